"""Documents and tables as files."""
