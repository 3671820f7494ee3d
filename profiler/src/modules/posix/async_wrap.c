/* The wrappers of async.def, and system calls made by number: openat2, which has no function in the C
 * library, calls on rings of io_uring, and io_submit, whose requests cannot be followed. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../files/names.h"
#include "../../lifecycle/confined.h"
#include "../../sampling/held.h"
#include "../../system/path_room.h"
#include "rings.h"
#include "async.h"
#include "posix.h"
#include "calls/row.h"
#include "unfollowed.h"

struct io_context;
struct __kernel_timespec;

#define TYPE_context(_)  struct io_context *
#define TYPE_count(_)    long
#define TYPE_controls(_) struct iocb **
#define TYPE_least(_)    long
#define TYPE_most(_)     long
#define TYPE_events(_)   struct io_event *
#define TYPE_limit(_)    struct timespec *
#define TYPE_mask(_)     sigset_t *
#define TYPE_entries(_)  unsigned
#define TYPE_flags(_)    unsigned
#define TYPE_memory(_)   void *
#define TYPE_bytes(_)    size_t

#define TYPE_ring(_)             struct liburing *
#define TYPE_ring_fd(_)          unsigned
#define TYPE_ring_limit(_)       struct __kernel_timespec *
#define TYPE_params(_)           struct ring_params *
#define TYPE_completions(_)      struct ring_completion **
#define TYPE_most_completions(_) unsigned
#define TYPE_submitted(_)        unsigned
#define TYPE_wanted(_)           unsigned
#define TYPE_least_time(_)       unsigned
#define TYPE_wait_place(_)       int
#define TYPE_operation(_)        unsigned
#define TYPE_argument(_)         void *
#define TYPE_first(_)            unsigned
#define TYPE_files(_)            unsigned
#define TYPE_fds(_)              const int *
#define TYPE_tags(_)             const uint64_t *

#define ON_SUBMIT(...)                                                                                       \
    FNB(__VA_ARGS__, async_before_submit(count, controls), async_on_submit(ret, count, controls))
#define ON_GETEVENTS(...)                                                                                    \
    FNB(__VA_ARGS__, c.mark = sampling_hold(NULL),                                                           \
        (sampling_release(c.mark), async_on_events(&c, ret, events)))
#define ON_PGETEVENTS(ret_t, name, params, args)                                                             \
    ON_GETEVENTS(ret_t, name, params,                                                                        \
                 (context, least, most, events, limit, held_mask(mask, &(sigset_t){{0}})))

#define HELD_MASK held_mask(mask, &(sigset_t){{0}})

/* Wraps a call that may wait in a ring. The signal of the sampling timers is blocked during the wait. */
#define RING_CALL(ret_t, name, params, args, before, waits, fd)                                              \
    FNB(ret_t, name, params, args, (before, c.mark = (waits) && HOLD(REAL(name))),                           \
        (sampling_release(c.mark), rings_after((int)(fd))))
#define ON_LIBRARY(flushes, waits, ret_t, name, params, args)                                                \
    RING_CALL(ret_t, name, params, args, rings_before_library(ring, flushes), waits, ring->fd)
#define ON_RING_SUBMIT(...)      ON_LIBRARY(true, false, __VA_ARGS__)
#define ON_RING_SUBMIT_WAIT(...) ON_LIBRARY(true, wanted > 0, __VA_ARGS__)
#define ON_RING_LOOK(...)        ON_LIBRARY(false, false, __VA_ARGS__)
#define ON_RING_LIMIT(...)       ON_LIBRARY(false, true, __VA_ARGS__)
#define ON_MASKED(flushes, ret_t, name, params, ...)                                                         \
    ON_LIBRARY(flushes, wanted > 0, ret_t, name, params, (ring, completions, __VA_ARGS__, HELD_MASK))
#define ON_RING_SUBMIT_MASK(ret_t, name, params, args)                                                       \
    ON_MASKED(true, ret_t, name, params, wanted, ring_limit)
#define ON_RING_SUBMIT_LEAST(ret_t, name, params, args)                                                      \
    ON_MASKED(true, ret_t, name, params, wanted, ring_limit, least_time)
#define ON_RING_GET(ret_t, name, params, args)  ON_MASKED(false, ret_t, name, params, submitted, wanted)
#define ON_RING_MASK(ret_t, name, params, args) ON_MASKED(false, ret_t, name, params, wanted, ring_limit)
#define ON_RING_LEAST(ret_t, name, params, args)                                                             \
    ON_MASKED(false, ret_t, name, params, wanted, ring_limit, least_time)

#define RING_FD (flags & RING_ENTERS_REGISTERED ? -1 : (int)ring_fd)
#define ON_RING_ENTER2(ret_t, name, params, args)                                                            \
    RING_CALL(ret_t, name, params, args, rings_before(RING_FD, submitted), wanted > 0, RING_FD)
#define ON_RING_ENTER(ret_t, name, params, args)                                                             \
    ON_RING_ENTER2(ret_t, name, params, (ring_fd, submitted, wanted, flags, HELD_MASK))

#define ON_RING_INIT(...)                       FN(__VA_ARGS__, if (ret >= 0) rings_follow_library(ring))
#define ON_RING_SETUP(...)                      FN(__VA_ARGS__, if (ret >= 0) rings_follow(ret, params))
#define ON_RING_EXIT(ret_t, name, params, args) FNB(ret_t, name, params, args, rings_leave(ring->fd), (void)0)
#define ON_RING_MOVE(...)                                                                                    \
    FNB(__VA_ARGS__, rings_leave(ring->fd), if (ret >= 0) unfollowed_add(UNFOLLOWED_io_uring))
#define ON_FILES(operation, argument, count, ...)                                                            \
    FN(__VA_ARGS__, if (ret >= 0) rings_on_register(ring->fd, operation, argument, count))
#define ON_RING_FILES(...)    ON_FILES(RING_REGISTER_FILES, fds, files, __VA_ARGS__)
#define ON_RING_NO_FILES(...) ON_FILES(RING_UNREGISTER_FILES, NULL, 0, __VA_ARGS__)
#define ON_RING_SPARSE(...)                                                                                  \
    ON_FILES(RING_REGISTER_FILES2, (&(struct ring_file_table){.files = files}), 1, __VA_ARGS__)
#define ON_RING_UPDATE(...)                                                                                  \
    ON_FILES(RING_REGISTER_FILES_UPDATE,                                                                     \
             (&(struct ring_file_update){.first = first, .fds = (uintptr_t)fds}), files, __VA_ARGS__)
#define ON_RING_REGISTER(...)                                                                                \
    FN(__VA_ARGS__, if (ret >= 0) rings_on_register((int)ring_fd, operation, argument, files))

#define WRAP_TABLE "profiler/src/modules/posix/async.def"
#include "../../runtime/wrap_expand.h"

#if defined(__x86_64__)

/* Jumps to the real function for all system calls except the eight below. A wrapper in C would have a stack
 * frame, and a system call that creates a thread or a process must not return into a frame. */
enum { IO_URING_SETUP = 425, IO_URING_ENTER = 426, IO_URING_REGISTER = 427, OPENAT2 = 437 };

_Static_assert(SYS_close == 3 && SYS_io_submit == 209 && SYS_prctl == 157 && SYS_seccomp == 317,
               "the numbers of system calls below must be those of this system");

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

static long enter_ring(long ring, long submitted, long wanted, long flags, long argument, long bytes)
{
    bool followed = iolens_active();
    int fd = flags & RING_ENTERS_REGISTERED ? -1 : (int)ring;
    if (followed)
        RECORDER(rings_before(fd, (uint32_t)submitted));
    bool held = wanted > 0 && HOLD(iolens_real_syscall);
    long ret = iolens_real_syscall(IO_URING_ENTER, ring, submitted, wanted, flags, argument, bytes);
    sampling_release(held);
    if (followed)
        RECORDER(rings_after(fd));
    return ret;
}

/* The kernel's struct open_how, which older headers lack. */
struct opening {
    uint64_t flags, mode, resolve;
};

enum { IN_ROOT = 0x10 }; /* RESOLVE_IN_ROOT: the folder acts as the root as well. */

/* Records an openat2. For a file that was opened below a folder which acts as the root (RESOLVE_IN_ROOT),
 * only the kernel knows the name. */
static void note_opening(const struct call *c, int fd, int dirfd, const char *path, const struct opening *how)
{
    char *name = how->resolve & IN_ROOT && iolens_owns_memory() ? path_room_take() : NULL;
    bool named = name && names_of_fd(name, fd);
    posix_on_open(c, fd, named ? AT_FDCWD : dirfd, named ? name : path, (int)how->flags, (mode_t)how->mode);
    path_room_give(name);
}

static long open_by_number(const void *caller, long dirfd, const char *path, const struct opening *how,
                           long bytes)
{
    struct call c = {.function = "openat2", .caller = caller, .t0 = clock_now(&iolens.clock)};
    long fd = iolens_real_syscall(OPENAT2, dirfd, path, how, bytes);
    c.t1 = clock_now(&iolens.clock);
    if (fd < 0)
        RECORDER(posix_on_open(&c, -1, AT_FDCWD, NULL, 0, 0));
    else
        RECORDER(note_opening(&c, (int)fd, (int)dirfd, path, how));
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
    if (number == SYS_close && iolens_active())
        RECORDER(rings_leave((int)first));
    long ret = iolens_real_syscall(number, first, second, third, fourth, fifth);
    if (ret < 0 || !iolens_active())
        return ret;
    if (number == IO_URING_SETUP)
        RECORDER(rings_follow((int)ret, (const struct ring_params *)second));
    else if (number == IO_URING_REGISTER)
        RECORDER(rings_on_register((int)first, (unsigned)second, (const void *)third, (unsigned)fourth));
    else if (number == SYS_io_submit && !async_submitting)
        RECORDER(unfollowed_add(UNFOLLOWED_io_submit));
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
        "    cmpq $427, %rdi\n" /* io_uring_register */
        "    je iolens_noted_syscall\n"
        "    cmpq $209, %rdi\n" /* io_submit */
        "    je iolens_noted_syscall\n"
        "    cmpq $3, %rdi\n" /* close */
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
