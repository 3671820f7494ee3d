"""Rules about datasets of HDF5 and variables of PnetCDF."""
