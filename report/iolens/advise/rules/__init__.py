"""Rules in one file per subject; iolens/advise/table.py lists them in order."""
