"""Rules about the log and its numbers: data that is missing, or that does not show the storage."""
