"""Draws the figures. Each file has a function that makes one matplotlib figure from tables."""
