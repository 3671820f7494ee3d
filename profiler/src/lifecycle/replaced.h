/* Whether what a program did before an exec is worth a log. */
#ifndef IOLENS_REPLACED_H
#define IOLENS_REPLACED_H

#include "../memory/area.h"
#include "../spool/spool.h"

/* Of a whole spool at its own address: it moved data in files, was a rank of an MPI job, visited regions, or
 * was sampled more than a few times. Neither files that were only opened (a shell does that for `command
 * >file`) nor the script that the program was reading itself from say anything. */
bool replaced_is_worth_a_log(const struct spool_header *header, const struct area *area);

#endif
