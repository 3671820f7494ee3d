"""Figures that compare logs, runs and outputs."""
