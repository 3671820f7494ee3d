"""Rules about the distribution of I/O over ranks and hosts."""
