"""The cost of recording, measured and bounded."""
