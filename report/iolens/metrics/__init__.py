"""Pure functions from frames to frames and numbers."""
