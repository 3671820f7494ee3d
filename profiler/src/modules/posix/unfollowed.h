/* What the program did to move bytes that cannot be recorded, counted so that the log says what it misses. */
#ifndef IOLENS_UNFOLLOWED_H
#define IOLENS_UNFOLLOWED_H

enum unfollowed {
#define UNFOLLOWED(name, meaning) UNFOLLOWED_##name,
#include "unfollowed.def"
#undef UNFOLLOWED
    UNFOLLOWED_KINDS
};

void unfollowed_add(enum unfollowed which);

#endif
