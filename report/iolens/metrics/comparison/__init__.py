"""Numbers of a sweep: its points, the effects of its settings, latencies and scaling."""
