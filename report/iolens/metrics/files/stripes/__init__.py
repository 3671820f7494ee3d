"""Stripes of files, the storage targets below them, and the bandwidth that these allow."""
