"""Commands for many logs, and for logs that are given to others."""
