"""Typical values, intervals and tests for few repetitions."""
