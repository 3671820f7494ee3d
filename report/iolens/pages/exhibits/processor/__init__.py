"""The exhibits about the work of the processors."""
