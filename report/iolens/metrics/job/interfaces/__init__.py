"""Numbers by interface: calls, bytes and settings of POSIX, stdio, MPI-IO, HDF5, rings, the network and GPUs."""
