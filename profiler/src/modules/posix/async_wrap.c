/* The wrappers of async.def, and system calls made by number: openat2, which has no function in the C
 * library, and calls that start I/O which cannot be followed. */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../lifecycle/confined.h"
#include "../../sampling/held.h"
#include "async.h"
#include "posix.h"
#include "calls/row.h"
#include "unfollowed.h"

struct io_context;
struct io_uring;
struct io_uring_params;

#define TYPE_context(_)  struct io_context *
#define TYPE_count(_)    long
#define TYPE_controls(_) struct iocb **
#define TYPE_least(_)    long
#define TYPE_most(_)     long
#define TYPE_events(_)   struct io_event *
#define TYPE_limit(_)    struct timespec *
#define TYPE_mask(_)     sigset_t *
#define TYPE_entries(_)  unsigned
#define TYPE_ring(_)     struct io_uring *
#define TYPE_params(_)   struct io_uring_params *
#define TYPE_flags(_)    unsigned
#define TYPE_memory(_)   void *
#define TYPE_bytes(_)    size_t

#define ON_SUBMIT(...)                                                                                       \
    FNB(__VA_ARGS__, async_before_submit(count, controls), async_on_submit(ret, count, controls))
#define ON_GETEVENTS(...)                                                                                    \
    FNB(__VA_ARGS__, c.mark = sampling_hold(NULL),                                                           \
        (sampling_release(c.mark), async_on_events(&c, ret, events)))
#define ON_PGETEVENTS(ret_t, name, params, args)                                                             \
    ON_GETEVENTS(ret_t, name, params,                                                                        \
                 (context, least, most, events, limit, held_mask(mask, &(sigset_t){{0}})))
#define ON_RING(...) FN(__VA_ARGS__, if (ret >= 0) unfollowed_add(UNFOLLOWED_io_uring))

#define WRAP_TABLE "profiler/src/modules/posix/async.def"
#include "../../runtime/wrap_expand.h"

#if defined(__x86_64__)

/* Jumps to the real function for all system calls but these six. A wrapper in C would have a frame, to which
 * a call that makes a thread or a process may not return. */
enum { IO_URING_SETUP = 425, IO_URING_ENTER = 426, OPENAT2 = 437 };

_Static_assert(SYS_io_submit == 209 && SYS_prctl == 157 && SYS_seccomp == 317, "the numbers below");

#define HIDDEN __attribute__((used, visibility("hidden")))

static long resolve_first(long number, ...);

HIDDEN long (*iolens_real_syscall)(long, ...) = resolve_first;

static long resolve_first(long number, ...)
{
    va_list list;
    long value[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        value[i] = va_arg(list, long);
    va_end(list);
    wrap_resolve("syscall", &iolens_real_syscall);
    return iolens_real_syscall(number, value[0], value[1], value[2], value[3], value[4], value[5]);
}

__attribute__((constructor)) static void resolve(void) { wrap_resolve("syscall", &iolens_real_syscall); }

/* Waits for completions as the functions of liburing in ring_waits.def do, with the timers' signal held back.
 */
static long enter_ring(long ring, long submitted, long wanted, long flags, long argument, long bytes)
{
    bool held = wanted > 0 && HOLD(iolens_real_syscall);
    long ret = iolens_real_syscall(IO_URING_ENTER, ring, submitted, wanted, flags, argument, bytes);
    sampling_release(held);
    return ret;
}

/* struct open_how, which older headers lack. */
struct opening {
    uint64_t flags, mode, resolve;
};

enum { IN_ROOT = 0x10 }; /* RESOLVE_IN_ROOT: the folder acts as the root as well. */

static long open_by_number(const void *caller, long dirfd, const char *path, const struct opening *how,
                           long bytes)
{
    struct call c = {.function = "openat2", .caller = caller, .t0 = clock_now(&iolens.clock)};
    long fd = iolens_real_syscall(OPENAT2, dirfd, path, how, bytes);
    c.t1 = clock_now(&iolens.clock);
    if (fd >= 0)
        RECORDER(posix_on_open(&c, (int)fd, (int)dirfd,
                               path + (how->resolve & IN_ROOT ? strspn(path, "/") : 0), (int)how->flags,
                               (mode_t)how->mode));
    return fd;
}

HIDDEN long iolens_noted_syscall(long number, long first, long second, long third, long fourth, long fifth,
                                 long sixth)
{
    if (number == OPENAT2 && iolens_active())
        return open_by_number(__builtin_return_address(0), first, (const char *)second,
                              (const struct opening *)third, fourth);
    if (number == SYS_prctl)
        confined_prctl(first, second, third);
    if (number == SYS_seccomp)
        confined_seccomp(first, third);
    if (number == IO_URING_ENTER)
        return enter_ring(first, second, third, fourth, fifth, sixth);
    long ret = iolens_real_syscall(number, first, second, third, fourth, fifth);
    bool ring = number == IO_URING_SETUP;
    bool moves = ring || (number == SYS_io_submit && !async_submitting);
    if (ret >= 0 && moves && iolens_active())
        RECORDER(unfollowed_add(ring ? UNFOLLOWED_io_uring : UNFOLLOWED_io_submit));
    return ret;
}

__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    cmpq $425, %rdi\n" /* io_uring_setup */
        "    je iolens_noted_syscall\n"
        "    cmpq $426, %rdi\n" /* io_uring_enter */
        "    je iolens_noted_syscall\n"
        "    cmpq $209, %rdi\n" /* io_submit */
        "    je iolens_noted_syscall\n"
        "    cmpq $157, %rdi\n" /* prctl */
        "    je iolens_noted_syscall\n"
        "    cmpq $317, %rdi\n" /* seccomp */
        "    je iolens_noted_syscall\n"
        "    cmpq $437, %rdi\n" /* openat2 */
        "    je iolens_noted_syscall\n"
        "    jmp *iolens_real_syscall(%rip)\n"
        ".size syscall, . - syscall\n"
        ".popsection\n");

#endif
