"""The I/O of single ranks: its numbers, by file and by call site, and how uneven it is."""
