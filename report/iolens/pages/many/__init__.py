"""Reports on many jobs, and on a job of many processes."""
