"""Code and texts that several rules share."""
