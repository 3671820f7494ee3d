"""How long a test waits for what must come at last."""

PATIENCE = 900.0
"""Seconds after which a program counts as hanging: on a machine that others keep busy, a second may take a minute."""
