"""Rules about calls on names: opening, closing and querying files, and locks."""
