"""Figures of one job."""
