"""Workloads: one file for each program that sweeps know, which says what the program takes and what it tells."""
