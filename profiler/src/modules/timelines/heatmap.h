/* The HEATMAP module: bytes moved per direction and time bin, one record per rank and API.
 *
 * A file keeps the bytes of its current bin itself, under the lock that its state has anyway, and hands them
 * to the map when a call ends in another bin: a call costs two comparisons and an addition, and threads on
 * different files do not meet. The map begins with 200 bins of 0.1 s. When their time is used up,
 * neighbouring bins are merged in pairs, so that a file's bin always lies within one bin of the map. */
#ifndef IOLENS_HEATMAP_H
#define IOLENS_HEATMAP_H

#include <stdbool.h>
#include <stdint.h>

enum heatmap_api { HEATMAP_POSIX, HEATMAP_STDIO, HEATMAP_MPIIO, HEATMAP_APIS };

/* Bytes of one file that have not been added to the map yet. */
struct heat {
    double begin, end; /* Begin and end of the current bin, in seconds by iolens.clock. */
    int64_t bytes[2];  /* Bytes read and written in the current bin. */
};

/* Handles a call [t0, t1] that does not lie in the file's current bin; the slow part of heat_add. */
void heat_move(struct heat *heat, enum heatmap_api api, bool writing, int64_t bytes, double t0, double t1);

/* Adds bytes to the current bin; the lock of the file's state must be held. */
static inline void heat_add(struct heat *heat, enum heatmap_api api, bool writing, int64_t bytes, double t0,
                            double t1)
{
    if (__builtin_expect(t0 >= heat->begin && t1 <= heat->end, 1))
        heat->bytes[writing] += bytes;
    else
        heat_move(heat, api, writing, bytes, t0, t1);
}

/* Adds the last bytes of the file to the map when recording ends. */
void heat_flush(const struct heat *heat, enum heatmap_api api);

#endif
