"""What of the toolkit works on this machine, found out by looking and by trying."""
