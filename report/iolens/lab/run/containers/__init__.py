"""Commands that start containers, and the profiler inside them."""
