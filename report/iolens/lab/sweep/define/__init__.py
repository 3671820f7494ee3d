"""The experiment, its points, and the specification of each run."""
