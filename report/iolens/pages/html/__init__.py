"""A document as one HTML file that needs no network: the same blocks as in a PDF."""
