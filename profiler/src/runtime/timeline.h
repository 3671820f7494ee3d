/* Converts a rank's clock to the job's clock, which starts when the first rank loads the library. */
#ifndef IOLENS_TIMELINE_H
#define IOLENS_TIMELINE_H

struct timeline {
    double factor; /* Recorded seconds are multiplied by this factor. */
    double shift;  /* Seconds that are added after the multiplication. */
    double end;    /* End of the job on the job's clock, the same on all ranks. */
};

static inline double timeline_at(const struct timeline *line, double recorded)
{
    return recorded * line->factor + line->shift;
}

#endif
