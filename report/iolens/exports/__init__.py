"""Samples, MPI calls and transfers of a log in the formats of other viewers."""
