"""Launchers: one file for each way to run the ranks of a program, on this machine or through a batch system."""
