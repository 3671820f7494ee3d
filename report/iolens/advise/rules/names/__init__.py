"""Rules about metadata calls, such as opening, closing and querying files, and about locks."""
