/* Verifies the result by NPB's published norms, or by the norms of the field in memory at the time of each
 * dump. */
#ifndef BTIO_VERIFY_H
#define BTIO_VERIFY_H

#include "run.h"

typedef enum { VERIFY_SUCCESSFUL, VERIFY_UNSUCCESSFUL, VERIFY_NOT_PERFORMED } VerifyStatus;

/* Largest relative difference from the reference that NPB allows. */
#define VERIFY_EPSILON 1.0e-8

/* RMS norms at the end of the run. */
typedef struct Answer {
    bool known; /* True if there is an answer; false if nothing was computed (--io-only). */
    double residual[COMPONENTS], error[COMPONENTS];
} Answer;

typedef struct Verdict {
    VerifyStatus status;
    char detail[256]; /* Explanation of the verdict; empty if nothing needs explaining. */
    Answer answer;
} Verdict;

/* Computes the final norms, compares them with the reference, prints the comparison as NPB does and returns
 * the verdict. Collective. */
Verdict verify(Run *run);

#endif
