/* Is the result right? Against NPB's published norms, or against what was in memory when each dump was
 * written. */
#ifndef BTIO_VERIFY_H
#define BTIO_VERIFY_H

#include "run.h"

typedef enum { VERIFY_SUCCESSFUL, VERIFY_UNSUCCESSFUL, VERIFY_NOT_PERFORMED } VerifyStatus;

typedef struct Verdict {
    VerifyStatus status;
    char detail[256]; /* empty: nothing to add */
} Verdict;

/* Takes the final norms, prints the comparison as NPB does and judges. Collective. */
Verdict verify(Run *run);

#endif
