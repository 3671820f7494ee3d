/* Facts about a traced file that single transfers (DXT) lack: when it was opened, flushed and closed, which
 * transfers were collective, and through which view. They are recorded only while transfers are traced, and
 * use the memory reserved for traces. */
#ifndef IOLENS_TRACED_EVENTS_H
#define IOLENS_TRACED_EVENTS_H

#include <stdint.h>

enum traced_event {
    TRACED_OPEN,
    TRACED_DUP,
    TRACED_FILENO,
    TRACED_SYNC,
    TRACED_DATA_SYNC,
    TRACED_CLOSE,
    TRACED_MPI_OPEN,
    TRACED_MPI_SYNC,
    TRACED_MPI_CLOSE,
    TRACED_COLLECTIVE, /* A blocking collective transfer. */
    TRACED_VIEW,
    TRACED_EVENTS
};

struct iolens_view;

/* Records an event of the file with this record id during [t0, t1]; `view` is the number of a file view, or
 * -1. */
void traced_event_add(uint64_t file, enum traced_event event, int64_t view, double t0, double t1);

/* Stores the description of a file view. Returns its number in this process, or -1 without room. A view equal
 * to the latest one gets the same number. */
int64_t traced_view_add(const struct iolens_view *view);

#endif
