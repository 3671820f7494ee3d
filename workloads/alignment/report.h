/* The output of a run, for people and as JSON. */
#ifndef ALIGNMENT_REPORT_H
#define ALIGNMENT_REPORT_H

#include "run.h"

/* Collective. Prints the results and writes the JSON. */
void report(Run *run);

#endif
