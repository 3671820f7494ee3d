"""Read the output of other benchmarks: one file for each kind of output."""
