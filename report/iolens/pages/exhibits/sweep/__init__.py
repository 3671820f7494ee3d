"""The exhibits about the results of a sweep."""
