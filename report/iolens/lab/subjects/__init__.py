"""Logs, runs and outputs as the subjects of a comparison."""
