/* The nominal peak of the processor that vendor, family and model on the command line name. */
#include "../../profiler/src/system/processor.c"
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **argument)
{
    enum { VENDOR = 1, FAMILY, MODEL, ALL };
    if (count != ALL)
        return 2;
    unsigned family = (unsigned)strtoul(argument[FAMILY], NULL, 0);
    unsigned model = (unsigned)strtoul(argument[MODEL], NULL, 0);
    printf("%d\n", (int)processor_peak(argument[VENDOR], family, model));
    return 0;
}
