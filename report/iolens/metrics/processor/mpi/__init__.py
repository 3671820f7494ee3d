"""MPI: calls, peers, settings, and the placement of ranks on nodes."""
