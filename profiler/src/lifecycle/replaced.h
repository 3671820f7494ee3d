/* Decides whether the activity of a program before an exec is worth a log. */
#ifndef IOLENS_REPLACED_H
#define IOLENS_REPLACED_H

#include "../memory/area.h"
#include "../spool/spool.h"

/* Returns true if the program of a spool did something that is worth a log: it moved data in files, was a
 * rank of an MPI job, visited regions, or was sampled more than a few times. The spool must be complete, and
 * mapped at its original address. Files that were only opened do not count (a shell opens one for `command
 * >file`), nor does the script that the program was reading. */
bool replaced_is_worth_a_log(const struct spool_header *header, const struct area *area);

#endif
