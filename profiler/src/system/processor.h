/* Which processor this is, and how much it can do in a cycle. */
#ifndef IOLENS_PROCESSOR_H
#define IOLENS_PROCESSOR_H

#include <stdint.h>

enum { VENDOR_BYTES = 13, PROCESSOR_BYTES = 56 };

struct processor {
    char name[PROCESSOR_BYTES]; /* as it calls itself; "": not known */
    char vendor[VENDOR_BYTES];
    unsigned family, model;
    int64_t
        peak; /* floating-point operations of double precision in a cycle of a core, at most; 0: not known */
};

/* What is not known, as on all that are not x86-64, is empty or 0. */
void processor_read(struct processor *processor);

#endif
