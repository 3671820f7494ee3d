"""One file a rule; iolens/advise/table.py has them in order."""
