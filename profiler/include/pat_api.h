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

static inline int iolens_pat_flush(unsigned long *bytes)
{
    if (bytes)
        *bytes = 0;
    iolens_flush();
    return PAT_API_OK;
}

/* Some releases of CrayPAT have PAT_flush_buffer(), others PAT_flush_buffer(&bytes). In C a macro accepts
 * both, because C has no default arguments. */
#ifdef __cplusplus
static inline int PAT_flush_buffer(unsigned long *bytes = 0) { return iolens_pat_flush(bytes); }
#else
#define PAT_flush_buffer(...) iolens_pat_flush(((unsigned long *[2]){0, __VA_ARGS__})[1])
#endif

#endif
