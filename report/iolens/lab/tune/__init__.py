"""Finds a good setting in a few runs: a model of the machine, fitted again after each run, chooses the next one."""
