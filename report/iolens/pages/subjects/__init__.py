"""The report that compares logs, runs and outputs."""
