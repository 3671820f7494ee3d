"""Numbers of one job as a whole: its calls, bytes, time, ranks, and the facts that its log lacks."""
