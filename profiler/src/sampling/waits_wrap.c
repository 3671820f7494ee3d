/* Wrappers of calls that wait and that a signal would end early, and of calls by which the program changes
 * signals. With them, sampling does not change what the program does. The signal is held back during a wait;
 * the sample taken afterwards counts for all of it. */
#include <aio.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "../files/fds.h"
#include "../runtime/wrap.h"
#include "sampling.h"
#include "signals.h"

/* The C library declares these functions only if a program is compiled with checks (_FORTIFY_SOURCE). */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
                size_t bytes);

ssize_t __recv_chk(int fd, void *memory, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *memory, size_t bytes, size_t room, int flags, struct sockaddr *address,
                       socklen_t *length);

/* Declares functions that C libraries before 2.30 or 2.35 lack. */
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time);
int epoll_pwait2(int epoll, struct epoll_event *events, int most, const struct timespec *timeout,
                 const sigset_t *mask);

/* The C library declares these functions only for programs compiled for certain standards. */
__sighandler_t bsd_signal(int number, __sighandler_t handler);
int __sigaction(int number, const struct sigaction *action, struct sigaction *before);

#define GIVING_WAIT(ret_t, name, ...) static __typeof__(&name) real_##name;
#include "giving_waits.def"
#undef GIVING_WAIT
#define WAIT(ret_t, name, ...) static __typeof__(&name) real_##name;
#include "waits.def"
#include "masked_waits.def"
#include "signal_waits.def"
#undef WAIT
static __typeof__(&sigaction) real_sigaction;
static __typeof__(&signal) real_signal;
static __typeof__(&sigprocmask) real_sigprocmask;
static __typeof__(&pthread_sigmask) real_pthread_sigmask;
static __typeof__(&sigpending) real_sigpending;
static __typeof__(&setsockopt) real_setsockopt;
static __typeof__(&signalfd) real_signalfd;
static __typeof__(&sigaltstack) real_sigaltstack;

static atomic_bool
    /* True if the program ever gave a socket a time limit or a least number of bytes to wait for. */
    iolens_sockets_end_waits;

enum { WHOLE_RANDOM = 256 }; /* A request up to this size is always returned whole (getrandom(2)). */

static void resolve_all(void)
{
#define GIVING_WAIT(ret_t, name, ...) (void)&REAL(name);
#include "giving_waits.def"
#undef GIVING_WAIT
#define WAIT(ret_t, name, ...) (void)&REAL(name);
#include "waits.def"
#include "masked_waits.def"
#include "signal_waits.def"
#undef WAIT
    (void)&REAL(sigaction);
    (void)&REAL(signal);
    (void)&REAL(sigprocmask);
    (void)&REAL(pthread_sigmask);
    (void)&REAL(sigpending);
    (void)&REAL(setsockopt);
    (void)&REAL(signalfd);
    (void)&REAL(sigaltstack);
}

__attribute__((constructor)) static void await_handlers(void) { wrap_resolve_for_handlers(resolve_all); }

static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
    *copy = *set;
    sigdelset(copy, sampling_signal());
    return copy;
}

#define WAIT(ret_t, name, params, args, waits)                                                               \
    IOLENS_EXPORT ret_t name params                                                                          \
    {                                                                                                        \
        if (!sampling_here() || !(waits))                                                                    \
            return REAL(name) args;                                                                          \
        bool held = HOLD(REAL(name));                                                                        \
        ret_t ret = REAL(name) args;                                                                         \
        sampling_release(held);                                                                              \
        return ret;                                                                                          \
    }
#include "waits.def"
#undef WAIT

/* Notes the descriptors that came with the first `count` messages. */
static void received_all(const struct mmsghdr *messages, int count)
{
    for (int i = 0; i < count; i++)
        fds_received(&messages[i].msg_hdr);
}

#define GIVING_WAIT(ret_t, name, params, args, waits, gives)                                                 \
    IOLENS_EXPORT ret_t name params                                                                          \
    {                                                                                                        \
        bool held = sampling_here() && (waits) && HOLD(REAL(name));                                          \
        ret_t ret = REAL(name) args;                                                                         \
        sampling_release(held);                                                                              \
        if (ret >= 0 && iolens_active())                                                                     \
            RECORDER(gives);                                                                                 \
        return ret;                                                                                          \
    }
#include "giving_waits.def"
#undef GIVING_WAIT

#define WAIT(ret_t, name, params, args)                                                                      \
    IOLENS_EXPORT ret_t name params                                                                          \
    {                                                                                                        \
        sigset_t copy;                                                                                       \
        if (!sampling_here())                                                                                \
            return REAL(name) args;                                                                          \
        bool held = HOLD(real_##name);                                                                       \
        mask = held_mask(mask, &copy);                                                                       \
        ret_t ret = REAL(name) args;                                                                         \
        sampling_release(held);                                                                              \
        return ret;                                                                                          \
    }
#include "masked_waits.def"
#undef WAIT

#define WAIT(ret_t, name, params, args)                                                                      \
    IOLENS_EXPORT ret_t name params                                                                          \
    {                                                                                                        \
        sigset_t copy;                                                                                       \
        if (sampling_signal() == 0)                                                                          \
            return REAL(name) args;                                                                          \
        bool held = HOLD(real_##name);                                                                       \
        set = without_ours(set, &copy);                                                                      \
        ret_t ret = REAL(name) args;                                                                         \
        sampling_release(held);                                                                              \
        return ret;                                                                                          \
    }
#include "signal_waits.def"
#undef WAIT

IOLENS_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;
    int ret = REAL(signalfd)(fd, sampling_signal() == 0 ? set : without_ours(set, &copy), flags);
    if (fd < 0 && ret >= 0 && iolens_active())
        RECORDER(fds_fresh(ret, false));
    return ret;
}

IOLENS_EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
    if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO || option == SO_RCVLOWAT))
        iolens_sockets_end_waits = true;
    return REAL(setsockopt)(fd, level, option, value, bytes);
}

IOLENS_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
    sampling_mask_changes(true);
    int ret = REAL(sigprocmask)(how, set, before);
    sampling_mask_changes(false);
    return ret;
}

IOLENS_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    sampling_mask_changes(true);
    int ret = REAL(pthread_sigmask)(how, set, before);
    sampling_mask_changes(false);
    return ret;
}

IOLENS_EXPORT int sigpending(sigset_t *set)
{
    int ret = REAL(sigpending)(set);
    if (ret == 0 && sampling_here())
        sigdelset(set, sampling_signal());
    return ret;
}

static void expect_handler(__sighandler_t handler)
{
    if (handler != SIG_DFL && handler != SIG_IGN)
        wrap_expect_handlers();
}

/* Sets an action. A handler on the program's alternate stack is not sampled: many of these stacks have 8 KiB,
 * and the kernel's frames of two signals may leave no room there, which ends the program. The program does
 * not see the timers' signal in the mask of its action. */
static int set_unsampled(int number, const struct sigaction *action, struct sigaction *before)
{
    static _Atomic uint64_t hidden; /* Signals in whose masks the program does not see the timers' signal. */
    uint64_t bit = UINT64_C(1) << (number - 1), was_hidden = hidden & bit;
    struct sigaction copy;
    bool hides = action && action->sa_flags & SA_ONSTACK && !sigismember(&action->sa_mask, sampling_signal());
    if (hides) {
        copy = *action;
        sigaddset(&copy.sa_mask, sampling_signal());
    }
    int ret = REAL(sigaction)(number, hides ? &copy : action, before);
    if (ret == 0 && before && was_hidden)
        sigdelset(&before->sa_mask, sampling_signal());
    if (ret == 0 && action)
        hidden = hides ? hidden | bit : hidden & ~bit;
    return ret;
}

static int set_action(int number, const struct sigaction *action, struct sigaction *before)
{
    if (action)
        expect_handler(action->sa_handler);
    if (sampling_signal() == 0 || number < 1 || number > SIGRTMAX)
        return REAL(sigaction)(number, action, before);
    return number == sampling_signal() ? signals_share(action, before)
                                       : set_unsampled(number, action, before);
}

IOLENS_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    return set_action(number, action, before);
}

IOLENS_EXPORT __sighandler_t signal(int number, __sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    expect_handler(handler);
    if (number == 0 || number != sampling_signal())
        return REAL(signal)(number, handler);
    signals_share(&action, &before);
    return before.sa_handler;
}

/* Wraps sigaction under another name that the C library has for it. */
IOLENS_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    return set_action(number, action, before);
}

#define INSTALL(name)                                                                                        \
    IOLENS_EXPORT __sighandler_t name(int number, __sighandler_t handler)                                    \
    {                                                                                                        \
        static __sighandler_t (*real_##name)(int, __sighandler_t);                                           \
        expect_handler(handler);                                                                             \
        return REAL(name)(number, handler);                                                                  \
    }
INSTALL(__sysv_signal)
INSTALL(sysv_signal)
INSTALL(bsd_signal)
INSTALL(ssignal)
INSTALL(sigset)
#undef INSTALL

IOLENS_EXPORT int sigaltstack(const stack_t *wanted, stack_t *before)
{
    if (sampling_signal() == 0)
        return REAL(sigaltstack)(wanted, before);
    if (wanted && sampling_here() && signal_stack_is_too_small(wanted))
        sampling_leave();
    return signal_stack_share(wanted, before);
}
