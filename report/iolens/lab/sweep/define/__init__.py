"""The experiment, its points, and what each run is spec to do."""
