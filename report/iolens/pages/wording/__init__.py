"""Sentences about jobs, sweeps and subjects that pages and tables share."""
