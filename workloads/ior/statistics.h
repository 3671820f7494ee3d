/* Typical values of repeated measurements. */
#ifndef IOR_STATISTICS_H
#define IOR_STATISTICS_H

typedef struct Typical {
    double least, most, mean, deviation; /* `deviation` is that of the population. */
    double median, low, high;            /* Median and its 95 % interval; NAN below six values. */
} Typical;

/* Computes the statistics and sorts `values`. The interval is that of order statistics (Conover, Practical
 * Nonparametric Statistics, 3.2). */
Typical typical_of(double *values, int count);

#endif
