/* Counts of the program's operations that moved bytes in ways that cannot be recorded, so that the log can
 * say what it lacks. */
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
