/* Leaves of CPUID, in which the processor describes itself. */
#ifndef IOLENS_LEAF_H
#define IOLENS_LEAF_H

enum { LEAF_FEATURES = 1, LEAF_CLOCK = 0x80000007u };

struct leaf {
    unsigned a, b, c, d;
};

/* Returns a leaf; zeros if the processor does not have it. The C library's copy from the start of the program
 * is preferred to asking the processor, because in a virtual machine the CPUID instruction takes up to 20
 * microseconds. */
struct leaf leaf_read(unsigned number);

#endif
