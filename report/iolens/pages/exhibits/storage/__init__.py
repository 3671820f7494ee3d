"""Exhibits about files, stripes, MPI-IO, and other paths to storage."""
