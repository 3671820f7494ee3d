"""Numbers of one job as a whole: its calls, bytes, time and ranks, and the facts that its log does not have."""
