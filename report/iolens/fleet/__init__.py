"""Many jobs as one data set: ingested from logs, incrementally and in parallel, and queried by SQL."""
