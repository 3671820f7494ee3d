"""Find out which parts of the toolkit work on this machine, by looking and by trying."""
