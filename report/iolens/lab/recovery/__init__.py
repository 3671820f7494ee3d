"""Recovery and live views: logs made from the spools of processes that ended without one, or that still run."""
