/* syscall(): the system calls of numbered.def are recorded as the C library's functions of the same name are.
 */
#if defined(__x86_64__)

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WRAP_SPENDS
#include "../../files/names.h"
#include "../../lifecycle/lifecycle.h"
#include "../../sampling/sampling.h"
#include "../../system/path.h"
#include "../network/connections.h"
#include "async.h"
#include "extra.h"
#include "locks.h"
#include "mapped_files.h"
#include "posix.h"
#include "posix_kinds.h"
#include "rings.h"
#include "unfollowed.h"

/* Numbers that headers before Linux 5.9 lack. */
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup    425
#define SYS_io_uring_enter    426
#define SYS_io_uring_register 427
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_openat2
#define SYS_openat2     437
#define SYS_pidfd_getfd 438
#endif

/* The kernel's struct open_how, which older headers lack. */
struct opening {
    uint64_t flags, mode, resolve;
};

#define TYPE_opening(_)     const struct opening *
#define TYPE_high(_)        long
#define TYPE_domain(_)      int
#define TYPE_type(_)        int
#define TYPE_protocol(_)    int
#define TYPE_ends(_)        int *
#define TYPE_message(_)     struct msghdr *
#define TYPE_messages(_)    struct mmsghdr *
#define TYPE_limit(_)       void *
#define TYPE_initial(_)     unsigned
#define TYPE_clock(_)       clockid_t
#define TYPE_mask(_)        const void *
#define TYPE_event_flags(_) unsigned
#define TYPE_attributes(_)  void *
#define TYPE_process(_)     pid_t
#define TYPE_processor(_)   int
#define TYPE_group(_)       int
#define TYPE_name(_)        const char *
#define TYPE_target(_)      int
#define TYPE_mount(_)       int
#define TYPE_handle(_)      void *
#define TYPE_entries(_)     unsigned
#define TYPE_params(_)      struct ring_params *
#define TYPE_ring_fd(_)     unsigned
#define TYPE_submitted(_)   unsigned
#define TYPE_wanted(_)      unsigned
#define TYPE_argument(_)    void *
#define TYPE_operation(_)   unsigned
#define TYPE_files(_)       unsigned
#define TYPE_context(_)     unsigned long
#define TYPE_option(_)      long
#define TYPE_more(_)        long
#define TYPE_third(_)       long
#define TYPE_fourth(_)      long
#define TYPE_filter(_)      long
#undef TYPE_controls
#define TYPE_controls(_) struct iocb **
#undef TYPE_length
#define TYPE_length(_) unsigned *
#undef TYPE_size
#define TYPE_size(_) int

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

/* Records an openat2. For a file that was opened below a folder which acts as the root (RESOLVE_IN_ROOT),
 * only the kernel knows the name. */
static void note_opening(const struct call *c, int fd, int dirfd, const char *path, const struct opening *how)
{
    enum { IN_ROOT = 0x10 }; /* RESOLVE_IN_ROOT: the folder acts as the root as well. */
    if (fd < 0) {
        posix_on_open(c, -1, AT_FDCWD, NULL, 0, 0);
        return;
    }
    char *name = how->resolve & IN_ROOT && iolens_owns_memory() ? path_room_take() : NULL;
    bool named = name && names_of_fd(name, fd);
    posix_on_open(c, fd, named ? AT_FDCWD : dirfd, named ? name : path, (int)how->flags, (mode_t)how->mode);
    path_room_give(name);
}

static void on_pair(const int *ends)
{
    fds_fresh(ends[0], false);
    fds_fresh(ends[1], false);
}

static void received_all(const struct mmsghdr *messages, int count)
{
    for (int i = 0; i < count; i++)
        fds_received(&messages[i].msg_hdr);
}

static mode_t mode_of(int flags, mode_t mode)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? mode : 0;
}

#define ON_OPEN_NUMBER(...)   FN(__VA_ARGS__, OPENED(AT_FDCWD, path, flags, mode_of(flags, mode)))
#define ON_OPENAT_NUMBER(...) FN(__VA_ARGS__, OPENED(dir, path, flags, mode_of(flags, mode)))
#define ON_OPENAT2(...)       FN(__VA_ARGS__, note_opening(&c, ret, dir, path, opening))
#define ON_FCNTL_NUMBER(...)                                                                                 \
    FNB(__VA_ARGS__, locks_before(&c, fd, locks_fcntl_waits(command)),                                       \
        posix_on_fcntl(&c, ret, fd, command, (intptr_t)value))

#define GIVES(condition, ...)                                                                                \
    if (condition)                                                                                           \
    __VA_ARGS__
#define ON_NO_FILE(...)    FN(__VA_ARGS__, GIVES(ret >= 0, fds_fresh(ret, false)))
#define ON_MAYBE_FILE(...) FN(__VA_ARGS__, GIVES(ret >= 0, fds_fresh(ret, true)))
#define ON_PAIR(...)       FN(__VA_ARGS__, GIVES(ret == 0, on_pair(ends)))
#define ON_SIGNALS(...)    FN(__VA_ARGS__, GIVES(ret >= 0 && fd < 0, fds_fresh(ret, false)))
#define ON_MESSAGE(...)    FN(__VA_ARGS__, GIVES(ret >= 0, fds_received(message)))
#define ON_MESSAGES(...)   FN(__VA_ARGS__, received_all(messages, ret))

#define RING_FD (flags & RING_ENTERS_REGISTERED ? -1 : (int)ring_fd)
#define ON_RING_SETUP(...)                                                                                   \
    FN(__VA_ARGS__, GIVES(ret >= 0, (fds_fresh(ret, false), rings_follow(ret, params))))
#define ON_RING_ENTER2(...)                                                                                  \
    FNB(__VA_ARGS__, (rings_before(RING_FD, submitted), c.mark = wanted > 0 && HOLD(iolens_real_syscall)),   \
        (sampling_release(c.mark), rings_after(RING_FD)))
#define ON_RING_REGISTER(...)                                                                                \
    FN(__VA_ARGS__, GIVES(ret >= 0, rings_on_register((int)ring_fd, operation, argument, files)))
#define ON_RAW_SUBMIT(...)                                                                                   \
    FN(__VA_ARGS__, GIVES(ret >= 0 && !async_submitting, unfollowed_add(UNFOLLOWED_io_submit)))
/* These restrict the process also while it is not recorded. */
#define ON_PRCTL(...)   ALWAYS(__VA_ARGS__, confined_prctl(option, (long)value, more))
#define ON_SECCOMP(...) ALWAYS(__VA_ARGS__, confined_seccomp(operation, filter))

/* Returns true if a signal of the sampling timers might end the call early; see posix_held.def. */
static inline bool may_wait(long number, long fd)
{
    switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
    case SYS_preadv:
    case SYS_preadv2:
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
    case SYS_pwritev:
    case SYS_pwritev2:
        return !fds_is_regular((int)fd);
    case SYS_sendfile:
    case SYS_copy_file_range:
    case SYS_splice:
    case SYS_fallocate:
        return true;
    default:
        return false;
    }
}

/* These functions have the arguments of the system call. They return a long, as syscall does. */
#define FIRST(first, ...)                    (long)(first)
#define KERNEL(name, ...)                    iolens_real_syscall(SYS_##name, ##__VA_ARGS__)
#define UNPACKED(...)                        __VA_ARGS__
#define FN(ret_t, name, params, args, event) FNB(ret_t, name, params, args, (void)0, event)
#define FNB(ret_t, name, params, args, before, event)                                                        \
    static long numbered_##name params                                                                       \
    {                                                                                                        \
        if (!iolens_active())                                                                                \
            return KERNEL(name, UNPACKED args);                                                              \
        __attribute__((unused)) struct call c = {.function = #name, .caller = __builtin_return_address(0)};  \
        RECORDER(before);                                                                                    \
        bool held = may_wait(SYS_##name, FIRST args) && HOLD(iolens_real_syscall);                           \
        c.t0 = clock_now(&iolens.clock);                                                                     \
        ret_t ret = (ret_t)KERNEL(name, UNPACKED args);                                                      \
        c.t1 = clock_now(&iolens.clock);                                                                     \
        sampling_release(held);                                                                              \
        wrap_spend(&c);                                                                                      \
        RECORDER(event);                                                                                     \
        return (long)ret;                                                                                    \
    }
#define ALWAYS(ret_t, name, params, args, before)                                                            \
    static long numbered_##name params                                                                       \
    {                                                                                                        \
        before;                                                                                              \
        return KERNEL(name, UNPACKED args);                                                                  \
    }
#include "numbered.def"
#undef FN
#undef FNB
#undef ALWAYS
#undef CALL

/* The function of each number; NULL: the system call is not recorded. */
#define CALL(kind, ret_t, name, ...) [SYS_##name] = (const void *)numbered_##name,
HIDDEN const void *const iolens_numbered[] = {
#include "numbered.def"
};
HIDDEN const unsigned long iolens_numbered_most = sizeof iolens_numbered / sizeof *iolens_numbered;

/* Jumps, so that the real function has the program's return address: a system call that creates a thread or a
 * process must not return into a frame of this library. */
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    cmpq iolens_numbered_most(%rip), %rdi\n"
        "    jae 1f\n"
        "    leaq iolens_numbered(%rip), %r11\n"
        "    movq (%r11,%rdi,8), %r11\n"
        "    testq %r11, %r11\n"
        "    jnz 2f\n"
        "1:  jmp *iolens_real_syscall(%rip)\n"
        "2:  movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %rcx\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    jmp *%r11\n"
        ".size syscall, . - syscall\n"
        ".popsection\n");

#endif
