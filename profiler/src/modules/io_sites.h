/* From where the program calls I/O functions, on request (IOLENS_IO_CALLERS). */
#ifndef IOLENS_IO_SITES_H
#define IOLENS_IO_SITES_H

#include "../runtime/wrap.h"

extern int iolens_io_callers; /* how many callers are told apart; 0: none */

/* A call of a module on the file `id` moved `bytes`. */
void io_sites_count(const struct call *c, const char *module, uint64_t id, int64_t bytes);

static inline void io_sites_add(const struct call *c, const char *module, uint64_t id, int64_t bytes)
{
    if (__builtin_expect(iolens_io_callers > 0, 0))
        io_sites_count(c, module, id, bytes);
}

#endif
