"""One file per rule; iolens/advise/table.py lists them in order."""
