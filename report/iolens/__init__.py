"""iolens: from a program's I/O to a report that says where the time went and what would fix it."""

__version__ = "0.2.0"
