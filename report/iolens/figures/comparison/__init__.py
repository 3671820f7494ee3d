"""Figures of a sweep's comparison."""
