/* Leaves of CPUID, in which the processor describes itself. */
#ifndef IOLENS_LEAF_H
#define IOLENS_LEAF_H

enum { LEAF_FEATURES = 1, LEAF_CLOCK = 0x80000007u };

struct leaf {
    unsigned a, b, c, d;
};

/* Returns a leaf: the C library's copy from the start of the program if there is one, else the answer of the
 * processor; zeros if the processor has no such leaf. In a virtual machine the CPUID instruction takes up to
 * 20 microseconds. */
struct leaf leaf_read(unsigned number);

#endif
