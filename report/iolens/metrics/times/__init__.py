"""Numbers of a job over time: clocks, bytes over time, bursts, single transfers."""
