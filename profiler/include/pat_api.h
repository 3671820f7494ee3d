/* CrayPAT's names for the marks of iolens.h, for a program that already uses them and is built without
 * CrayPAT. */
#ifndef PAT_API_H
#define PAT_API_H

#include "iolens.h"

enum { PAT_API_FAIL, PAT_API_OK };

enum { PAT_STATE_OFF, PAT_STATE_ON };

static inline int PAT_region_begin(int id, const char *label)
{
    iolens_region_begin(id, label);
    return PAT_API_OK;
}

static inline int PAT_region_end(int id)
{
    iolens_region_end(id);
    return PAT_API_OK;
}

static inline int PAT_record(int state)
{
    iolens_record(state);
    return PAT_API_OK;
}

static inline int PAT_flush_buffer(unsigned long *bytes)
{
    if (bytes)
        *bytes = 0;
    iolens_flush();
    return PAT_API_OK;
}

#endif
