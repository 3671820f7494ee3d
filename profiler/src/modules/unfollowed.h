/* What the program did to move bytes that cannot be recorded, counted so that the log says what it misses. */
#ifndef IOLENS_UNFOLLOWED_H
#define IOLENS_UNFOLLOWED_H

#include <stdatomic.h>
#include <stdint.h>

#include "../core/buffer.h"

enum unfollowed {
#define UNFOLLOWED(name, meaning) UNFOLLOWED_##name,
#include "unfollowed.def"
#undef UNFOLLOWED
    UNFOLLOWED_KINDS
};

struct unfollowed_calls {
    _Atomic int64_t calls[UNFOLLOWED_KINDS];
};

struct iolens_transport;

void unfollowed_add(enum unfollowed which);

/* The table of the private region unfollowed: this rank's row, when it has any such calls. */
void unfollowed_table_write(const struct iolens_transport *transport, struct buffer *out);

#endif
