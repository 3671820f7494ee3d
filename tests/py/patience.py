"""The time for which a test waits for an event that must happen."""

PATIENCE = 900.0
"""Seconds after which a program counts as hanging. On a busy machine one second of work may take a minute."""
