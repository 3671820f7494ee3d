"""The experiment, its points, and what each run is asked to do."""
