"""Exhibits about files, stripes, MPI-IO, and other ways to storage."""
