"""Rules about storage targets, stripes, and accesses inside stripes."""
