/* Is the result right? Against NPB's published norms, or against what was in memory when each dump was
 * written. */
#ifndef BTIO_VERIFY_H
#define BTIO_VERIFY_H

#include "run.h"

typedef enum { VERIFY_SUCCESSFUL, VERIFY_UNSUCCESSFUL, VERIFY_NOT_PERFORMED } VerifyStatus;

/* NPB's accuracy, relative: as near an answer must come to the reference. */
#define VERIFY_EPSILON 1.0e-8

/* The RMS norms that the run ended with. */
typedef struct Answer {
    bool known; /* false where nothing was computed (--io-only) */
    double residual[COMPONENTS], error[COMPONENTS];
} Answer;

typedef struct Verdict {
    VerifyStatus status;
    char detail[256]; /* empty: nothing to add */
    Answer answer;
} Verdict;

/* Takes the final norms, prints the comparison as NPB does and judges. Collective. */
Verdict verify(Run *run);

#endif
