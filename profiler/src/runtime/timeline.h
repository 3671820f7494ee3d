/* From a rank's clock to the job's, which began when the first rank was loaded. */
#ifndef IOLENS_TIMELINE_H
#define IOLENS_TIMELINE_H

struct timeline {
    double factor; /* what recorded seconds are multiplied with ... */
    double shift;  /* ... and seconds that are then added */
    double end;    /* of the job on its own clock, the same on all ranks */
};

static inline double timeline_at(const struct timeline *line, double recorded)
{
    return recorded * line->factor + line->shift;
}

#endif
