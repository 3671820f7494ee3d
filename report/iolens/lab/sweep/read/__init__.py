"""The results of a sweep, read back from the records of its runs."""
