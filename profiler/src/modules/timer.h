/* Adds up the time of operations on one file; time in which operations of several threads overlap counts
 * once. */
#ifndef IOLENS_TIMER_H
#define IOLENS_TIMER_H

static inline void timer_add(double *total, double *last_end, double t0, double t1)
{
    if (t1 <= *last_end)
        return;
    *total += t1 - (t0 > *last_end ? t0 : *last_end);
    *last_end = t1;
}

/* Extends the time from the first begin to the last end of a kind of operation; 0 means never. */
static inline void timer_stamp(double *begin, double *end, double t0, double t1)
{
    if (!(*begin > 0) || t0 < *begin)
        *begin = t0;
    if (t1 > *end)
        *end = t1;
}

#endif
