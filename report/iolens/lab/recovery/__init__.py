"""Recovery and live views: make logs from the spools of processes that ended without a log, or that are still
running.
"""
