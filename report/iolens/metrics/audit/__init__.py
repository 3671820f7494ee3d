"""Check a comparison against the established rules for performance measurements, by the records of its runs."""
