/* Expands the table named by WRAP_TABLE: prototypes (a wrong row is a compile error), pointers to the real
 * functions, their resolution before signal handlers if WRAP_HANDLERS is defined, and the wrappers. Included
 * once per table. */
#include "wrap.h"

#define FN(ret_t, name, params, ...)  ret_t name params;
#define FNB(ret_t, name, params, ...) ret_t name params;
#define FNV(ret_t, name, params, ...) ret_t name params;
#define FNZ(name, params, ...)        void name params;
#include WRAP_TABLE
#undef FN
#undef FNB
#undef FNV
#undef FNZ

#define FN(ret_t, name, ...)  static __typeof__(&name) real_##name;
#define FNB(ret_t, name, ...) static __typeof__(&name) real_##name;
#define FNV(ret_t, name, ...) static __typeof__(&name) real_##name __attribute__((unused));
#define FNZ(name, ...)        static __typeof__(&name) real_##name;
#include WRAP_TABLE
#undef FN
#undef FNB
#undef FNV
#undef FNZ

/* Functions are looked up at their first use, which spares every process hundreds of lookups; functions that
 * a signal handler may call are also looked up before a handler is installed. */
#ifdef WRAP_HANDLERS
static void resolve_all(void)
{
#define FN(ret_t, name, ...)  (void)&REAL(name);
#define FNB(ret_t, name, ...) (void)&REAL(name);
#define FNV(ret_t, name, ...) (void)&REAL(name);
#define FNZ(name, ...)        (void)&REAL(name);
#include WRAP_TABLE
#undef FN
#undef FNB
#undef FNV
#undef FNZ
}

__attribute__((constructor)) static void await_handlers(void) { wrap_resolve_for_handlers(resolve_all); }
#endif

#define FN(ret_t, name, params, args, event)                                                                 \
    WRAPPER(IOLENS_EXPORT, ret_t, name, name, params, REAL(name) args, (void)0, event)
#define FNB(ret_t, name, params, args, before, event)                                                        \
    WRAPPER(IOLENS_EXPORT, ret_t, name, name, params, REAL(name) args, RECORDER(before), event)
#define FNV(ret_t, name, params, last, fetch, inner, real, args, before, event)                              \
    WRAPPER(WRAP_INSIDE, ret_t, list_##name, name, inner, REAL(real) args, RECORDER(before), event)          \
    IOLENS_EXPORT ret_t name params                                                                          \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, last);                                                                                \
        fetch;                                                                                               \
        ret_t ret = list_##name args;                                                                        \
        va_end(list);                                                                                        \
        return ret;                                                                                          \
    }
#define FNZ(name, params, args, before, event)                                                               \
    WRAPPER(WRAP_INSIDE, int, void_##name, name, params, (REAL(name) args, 0), RECORDER(before), event)      \
    IOLENS_EXPORT void name params { (void)void_##name args; }
#include WRAP_TABLE
#undef FN
#undef FNB
#undef FNV
#undef FNZ
