"""Computes the numbers and tables of a report from the tables of a log, by functions without side effects."""
