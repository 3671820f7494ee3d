"""Rules that turn metrics into findings with evidence and a remedy."""
