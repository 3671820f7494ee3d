"""IO500: its phases at a small scale, performed and scored."""
