"""The performance of runs, and the record of each."""
