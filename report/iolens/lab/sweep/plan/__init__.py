"""Everything that is settled before a run begins: checks, builds, places, and the runs that are missing."""
