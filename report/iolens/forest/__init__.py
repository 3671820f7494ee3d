"""A job of many processes: the logs of a folder as one forest of processes, and what they did together."""
