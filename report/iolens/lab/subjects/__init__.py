"""Read logs, runs and outputs as the subjects of a comparison."""
