"""Storage: one file for each back end (emulated targets, Lustre, a plain folder), and the table that finds them."""
