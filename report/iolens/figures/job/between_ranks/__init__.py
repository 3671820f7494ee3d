"""Figures of what ranks send to each other, and of who waits for whom."""
