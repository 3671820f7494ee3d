"""Make the runs of a sweep, and keep a record of each."""
