"""Reports, terminal summaries and exports, made of the figures and tables of a log."""
