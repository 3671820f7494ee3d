"""Check a comparison against the field's rules for measurements, using the records of its runs."""
