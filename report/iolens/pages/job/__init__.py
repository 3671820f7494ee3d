"""The report of one job, in a document and in the terminal."""
