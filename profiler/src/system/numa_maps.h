/* The memory of a process by NUMA node, as the kernel lists it (proc_pid_numa_maps(5)). */
#ifndef IOLENS_NUMA_MAPS_H
#define IOLENS_NUMA_MAPS_H

#include <stdbool.h>
#include <stdint.h>

enum { MEMORY_NODES = 1024 }; /* The largest number of NUMA nodes that Linux can have. */

/* Sets the resident bytes of each node, shared ones included. Only one thread at a time may call this.
 * Returns false if the file cannot be read. */
bool numa_maps_read(const char *path, int64_t bytes[MEMORY_NODES]);

#endif
