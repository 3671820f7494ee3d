"""Numbers of a job by file: use, stripes, storage targets, and the ranks that wrote."""
