"""Log files of any Darshan version, read into frames."""
