/* Prints the bytes of each NUMA node from a file of the form of /proc/self/numa_maps. Without a file, prints
 * those of its own memory, and the resident bytes that smaps_rollup tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../profiler/src/system/numa_maps.c"
#include "../../profiler/src/system/system_call.c"

static long long resident(void)
{
    char line[256];
    long long kib = -1;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Rss: %lld", &kib);
    return kib * KIB;
}

int main(int count, char **words)
{
    static int64_t bytes[MEMORY_NODES], all;
    memset(malloc(64 << 20), 1, 64 << 20);
    if (!numa_maps_read(count > 1 ? words[1] : "/proc/self/numa_maps", bytes))
        return 1;
    for (int node = 0; node < MEMORY_NODES; node++) {
        if (bytes[node])
            printf("%d %lld\n", node, (long long)bytes[node]);
        all += bytes[node];
    }
    if (count < 2)
        printf("all %lld\nresident %lld\n", (long long)all, resident());
    return 0;
}
