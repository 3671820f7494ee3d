"""Sweeps: an experiment read and validated, its matrix run, and the results read back."""
