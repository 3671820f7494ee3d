"""Storage: stripes set and read, on a real file system or on the emulated one."""
