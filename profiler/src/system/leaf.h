/* Leaves of CPUID, in which the processor describes itself. */
#ifndef IOLENS_LEAF_H
#define IOLENS_LEAF_H

enum { LEAF_FEATURES = 1, LEAF_CLOCK = 0x80000007u };

struct leaf {
    unsigned a, b, c, d;
};

/* Returns a leaf as the C library read it when the program began, or else as the processor gives it; zeros
 * where the processor has no such leaf. In a virtual machine the instruction takes up to 20 microseconds. */
struct leaf leaf_read(unsigned number);

#endif
