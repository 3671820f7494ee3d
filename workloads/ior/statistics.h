/* Typical values of repeated measurements. */
#ifndef IOR_STATISTICS_H
#define IOR_STATISTICS_H

typedef struct Typical {
    double least, most, mean, deviation; /* deviation: of the population */
    double median, low, high;            /* interval of the median at 95 %; NAN below six values */
} Typical;

/* Sorts `values`. The interval is that of order statistics (Conover, Practical Nonparametric
 * Statistics, 3.2). */
Typical typical_of(double *values, int count);

#endif
