"""Pages: lists of figures and tables, written as PDF."""
