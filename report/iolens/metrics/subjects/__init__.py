"""Numbers of logs, runs and outputs that are compared side by side."""
