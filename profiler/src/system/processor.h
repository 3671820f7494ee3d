/* The kind of this processor, and the most operations per cycle of one of its cores. */
#ifndef IOLENS_PROCESSOR_H
#define IOLENS_PROCESSOR_H

#include <stdint.h>

enum { VENDOR_BYTES = 13, PROCESSOR_BYTES = 56 };

struct processor {
    char name[PROCESSOR_BYTES]; /* Name that the processor reports; "" if unknown. */
    char vendor[VENDOR_BYTES];
    unsigned family, model;
    int64_t peak; /* Result of processor_peak. */
};

/* Reads the facts about this machine's processor. Unknown facts are empty or 0; on machines other than x86-64
 * all are unknown. */
void processor_read(struct processor *processor);

/* Returns the nominal peak, from a table: the largest number of double-precision operations that a core of
 * this family and model can do in a cycle. Returns 0 if the model is unknown, or if this processor lacks the
 * vector instructions on which the peak relies. */
int64_t processor_peak(const char *vendor, unsigned family, unsigned model);

enum { LEAF_FEATURES = 1, LEAF_CLOCK = 0x80000007u };

struct leaf {
    unsigned a, b, c, d;
};

/* Returns a leaf; zeros if the processor does not have it. The C library's copy from the start of the program
 * is preferred to asking the processor, because in a virtual machine the CPUID instruction takes up to 20
 * microseconds. */
struct leaf leaf_read(unsigned number);

#endif
