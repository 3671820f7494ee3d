"""Commands that read logs."""
