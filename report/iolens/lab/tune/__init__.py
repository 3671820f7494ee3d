"""Find a good setting in a few runs: a model of the machine, fitted as runs come in, chooses the next one."""
