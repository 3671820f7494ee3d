#include <math.h>
#include <stdlib.h>

#include "print.h"

enum { INTERVAL_FROM = 6 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the largest k for which the interval from the k-th smallest to the k-th largest of n values
 * contains the median with at least 95 % probability: 1 - 2 P(B < k), B binomial. */
static int rank_of_interval(int n)
{
    double term = pow(0.5, n), below = 0.0;
    int k = 0;
    while (1.0 - 2.0 * (below + term) >= 0.95) {
        below += term;
        term *= (double)(n - k) / (k + 1);
        k++;
    }
    return k;
}

Typical typical_of(double *values, int count)
{
    Typical t = {.low = NAN, .high = NAN};
    qsort(values, (size_t)count, sizeof *values, ascending);
    for (int i = 0; i < count; i++)
        t.mean += values[i] / count;
    for (int i = 0; i < count; i++)
        t.deviation += (values[i] - t.mean) * (values[i] - t.mean) / count;
    t.deviation = sqrt(t.deviation);
    t.least = values[0];
    t.most = values[count - 1];
    t.median = (values[(count - 1) / 2] + values[count / 2]) / 2;
    if (count >= INTERVAL_FROM) {
        int k = rank_of_interval(count);
        t.low = values[k - 1];
        t.high = values[count - k];
    }
    return t;
}
