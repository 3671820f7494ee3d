/* Prints the nominal peak of the processor with the vendor, family and model on the command line. Without
 * arguments, compares CPUID leaves as the library reads them with those of the instruction. */
#define _GNU_SOURCE
#include "../../profiler/src/system/processor.c"
#include <stdio.h>
#include <stdlib.h>

static int compare_leaves(void)
{
    struct leaf features, clock;
    __get_cpuid(LEAF_FEATURES, &features.a, &features.b, &features.c, &features.d);
    __get_cpuid(LEAF_CLOCK, &clock.a, &clock.b, &clock.c, &clock.d);
    bool alike = leaf_read(LEAF_FEATURES).a == features.a && leaf_read(LEAF_FEATURES).c == features.c &&
                 leaf_read(LEAF_CLOCK).d == clock.d;
    printf("%s\n", alike ? "alike" : "different");
    return 0;
}

int main(int count, char **argument)
{
    enum { VENDOR = 1, FAMILY, MODEL, ALL };
    if (count == 1)
        return compare_leaves();
    if (count != ALL)
        return 2;
    unsigned family = (unsigned)strtoul(argument[FAMILY], NULL, 0);
    unsigned model = (unsigned)strtoul(argument[MODEL], NULL, 0);
    printf("%d\n", (int)processor_peak(argument[VENDOR], family, model));
    return 0;
}
