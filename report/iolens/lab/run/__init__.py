"""One run: a command under the profiler, its log and record, and the cost of recording."""
