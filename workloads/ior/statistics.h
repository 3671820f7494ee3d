/* Typical values of repeated measurements. */
#ifndef IOR_STATISTICS_H
#define IOR_STATISTICS_H

typedef struct Typical {
    double least, most, mean, deviation; /* `deviation` is the standard deviation of the population, which
                                          * divides by the number of values. */
    double median, low, high;            /* Median, and the bounds of its 95 % interval; the bounds are NAN if
                                          * there are fewer than six values. */
} Typical;

/* Computes the statistics and sorts `values`. The bounds of the interval are two of the values themselves
 * (order statistics; Conover, Practical Nonparametric Statistics, 3.2). */
Typical typical_of(double *values, int count);

#endif
