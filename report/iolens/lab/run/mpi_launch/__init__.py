"""The MPI of a command: its library, its launcher, the nodes, and the settings that they need."""
