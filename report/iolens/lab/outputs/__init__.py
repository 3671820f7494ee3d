"""What benchmarks of others print, read back: a file for each kind of output."""
