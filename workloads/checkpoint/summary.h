/* The output of a run: the lines of the original program, and additional lines. */
#ifndef CHECKPOINT_SUMMARY_H
#define CHECKPOINT_SUMMARY_H

#include "measure.h"

/* Prints the results on rank 0. `seconds` is the program's run time so far. Collective. */
void summary_print(const Run *run, const Measured *measured, double seconds);

/* Collective. Writes the JSON file of --json. */
void summary_json(const Run *run, const Measured *measured, double seconds, Trouble *trouble);

/* Returns `successful`, `unsuccessful` or `not performed`, and the reason in `detail`. Collective: if values
 * are wrong, the reason names the position of the first wrong value on the lowest such rank. */
const char *summary_verdict(const Run *run, const Measured *measured, char *detail, size_t size);

#endif
