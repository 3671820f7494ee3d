"""Finds out which parts of the toolkit work on this machine, by checks and by trials."""
