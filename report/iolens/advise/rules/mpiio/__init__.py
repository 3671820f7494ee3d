"""Rules about MPI-IO: collective calls, aggregators, hints."""
