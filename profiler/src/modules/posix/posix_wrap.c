/* The wrapped POSIX functions: the rows of calls/posix.def, expanded. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRAP_SPENDS
#include "../../files/names.h"
#include "../../sampling/sampling.h"
#include "../network/connections.h"
#include "extra.h"
#include "locks.h"
#include "mapped_files.h"
#include "posix.h"
#include "posix_kinds.h"

#define WRAP_HANDLERS
#define WRAP_TABLE "calls/posix.def"
#include "../../runtime/wrap_expand.h"

/* Functions that are called in place of the real ones while the program is sampled. For regular files they
 * add no stack frame. For other descriptors they hold the timers' signal back, and ask the kernel once for
 * the kind of file. */
#define HELD(ret_t, name, params, args, ends, learn)                                                         \
    static __typeof__(&name) sampled_##name;                                                                 \
    __attribute__((noinline)) static ret_t waiting_##name params                                             \
    {                                                                                                        \
        learn;                                                                                               \
        bool held = HOLD(sampled_##name);                                                                    \
        ret_t ret = sampled_##name args;                                                                     \
        sampling_release(held);                                                                              \
        return ret;                                                                                          \
    }                                                                                                        \
    static ret_t held_##name params { return ends ? waiting_##name args : sampled_##name args; }
#define ON_TRANSFER(...) HELD(__VA_ARGS__, !fds_is_regular(fd), fds_learn_kind(fd))
#define ON_ALWAYS(...)   HELD(__VA_ARGS__, true, (void)0)
#include "posix_held.def"
#undef ON_TRANSFER
#undef ON_ALWAYS

#define HOLD_FROM_NOW(ret_t, name, ...) sampled_##name = REAL(name), real_##name = held_##name;
#define ON_TRANSFER(...)                HOLD_FROM_NOW(__VA_ARGS__)
#define ON_ALWAYS(...)                  HOLD_FROM_NOW(__VA_ARGS__)

static void hold_waits(void)
{
#include "posix_held.def"
}

__attribute__((constructor)) static void when_sampled(void) { sampling_when_started(hold_waits); }
