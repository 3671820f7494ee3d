"""Experiments: run one program, sweep a matrix, read the results back."""
