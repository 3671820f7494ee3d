"""Commands for experiments and storage."""
