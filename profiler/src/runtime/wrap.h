/* The shape of every wrapper, written once.
 *
 * A table of calls has one row per function (calls/row.h); what is done for each kind of row is one of
 *   FN (return type, name, parameters, arguments, event)
 *   FNB(return type, name, parameters, arguments, before, event)  `before` runs ahead of the real call
 *   FNZ(name, parameters, arguments, before, event)  returns nothing
 *   FNV(return type, name, parameters, last named parameter, fetch, inner parameters, real name, arguments,
 *       before, event)  variable arguments: `fetch` reads them from `list` into the inner parameters
 * of which the row itself gives all but `before` and `event`. An event is a call of an ordinary function; it
 * sees the parameters, `ret` and the `struct call c`. The guard is held around the recorder only: what the
 * real function calls in turn is recorded. */
#ifndef IOLENS_WRAP_H
#define IOLENS_WRAP_H

#include "context.h"

#define IOLENS_EXPORT __attribute__((visibility("default")))

struct call {
    double t0, t1;        /* Times before and after the real call, in seconds by iolens.clock. */
    void *taken;          /* Entry that `before` found in a table, or took out of it. */
    int64_t mark, target; /* Numbers that `before` measured. */
    const char *function; /* Name of the called function. */
    const void *caller;   /* Return address of the call. */
};

/* Sets the function pointer to the next definition of `name` after this library; if there is none, to a
 * function that fails with ENOSYS. */
void wrap_resolve(const char *name, void *pointer);

/* Arranges that the functions of a table are looked up before the program installs a signal handler that
 * may call them, because dlsym is not allowed in a handler. If a handler may be installed already, looks
 * them up at once. */
void wrap_resolve_for_handlers(void (*resolve)(void));

/* Looks up the functions of all tables that were given to wrap_resolve_for_handlers. Called before the
 * program installs a signal handler. */
void wrap_expect_handlers(void);

/* For functions that must be expanded in the wrapper itself, so that they see the wrapper's caller. */
#define WRAP_INSIDE __attribute__((always_inline)) static inline

#define REAL(name) (*(real_##name ? (void)0 : wrap_resolve(#name, &real_##name), real_##name))

#define RECORDER(statement)                                                                                  \
    do {                                                                                                     \
        int *place = errno_place(), before = *place;                                                         \
        iolens_busy = true;                                                                                  \
        statement;                                                                                           \
        iolens_busy = false;                                                                                 \
        *place = before;                                                                                     \
    } while (0)

/* WRAP_SPENDS must be defined for tables whose calls have times in the log: these times are then subtracted
 * from the times of the traced functions that make the calls. */
#ifdef WRAP_SPENDS
static inline void wrap_spend(const struct call *c) { iolens_spent_time += c->t1 - c->t0; }
#else
static inline void wrap_spend(const struct call *c) { (void)c; }
#endif

#define WRAPPER(linkage, ret_t, name, called, params, real_call, prepare, event)                             \
    linkage ret_t name params                                                                                \
    {                                                                                                        \
        if (!iolens_active())                                                                                \
            return real_call;                                                                                \
        __attribute__((unused)) struct call c = {.function = #called,                                        \
                                                 .caller = __builtin_return_address(0)};                     \
        prepare;                                                                                             \
        c.t0 = clock_now(&iolens.clock);                                                                     \
        ret_t ret = real_call;                                                                               \
        c.t1 = clock_now(&iolens.clock);                                                                     \
        wrap_spend(&c);                                                                                      \
        RECORDER(event);                                                                                     \
        return ret;                                                                                          \
    }

#endif
