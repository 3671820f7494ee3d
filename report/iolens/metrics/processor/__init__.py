"""The work of the processors: MPI, samples, regions, counters, and the I/O of single ranks. See report/TABLES.md."""
