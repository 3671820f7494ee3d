"""Whether a comparison keeps the field's rules for measurements, checked against what is recorded of its runs."""
