/* The wrappers of fresh.def: functions that give the program descriptors. A number that the program closed by
 * a means that is not wrapped is noticed when the kernel gives it out again. */
#include <dirent.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utmp.h>

#include "../../files/fds.h"
#include "../stdio/streams.h"
#include "calls/libc_types.h"
#include "calls/row.h"

#define TYPE_domain(_)      int
#define TYPE_type(_)        int
#define TYPE_protocol(_)    int
#define TYPE_ends(_)        int *
#define TYPE_initial(_)     unsigned
#define TYPE_clock(_)       clockid_t
#define TYPE_event_flags(_) unsigned
#define TYPE_name(_)        const char *
#define TYPE_master(_)      int *
#define TYPE_slave(_)       int *
#define TYPE_terminal(_)    char *
#define TYPE_settings(_)    const struct termios *
#define TYPE_window(_)      const struct winsize *
#define TYPE_stay(_)        int
#define TYPE_keep(_)        int
#define TYPE_mount(_)       int
#define TYPE_handle(_)      struct file_handle *
#undef TYPE_size
#define TYPE_size(_) int

static void on_pair(const int *ends)
{
    fds_fresh(ends[0], false);
    fds_fresh(ends[1], false);
}

/* Notes that the standard descriptors became copies of a descriptor inside the C library. */
static void on_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        fds_ask_again(fd);
        streams_replaced(fd);
    }
}

#define GIVES(condition, ...)                                                                                \
    if (condition)                                                                                           \
    __VA_ARGS__
#define ON_NO_FILE(...)    FN(__VA_ARGS__, GIVES(ret >= 0, fds_fresh(ret, false)))
#define ON_MAYBE_FILE(...) FN(__VA_ARGS__, GIVES(ret >= 0, fds_fresh(ret, true)))
#define ON_PAIR(...)       FN(__VA_ARGS__, GIVES(ret == 0, on_pair(ends)))
#define ON_OPENPTY(...)    FN(__VA_ARGS__, GIVES(ret == 0, on_pair((int[]){*master, *slave})))
#define ON_FORKPTY(...)                                                                                      \
    FN(__VA_ARGS__, if (ret > 0) fds_fresh(*master, false); GIVES(ret == 0, on_standard()))
#define ON_STANDARD(...) FN(__VA_ARGS__, GIVES(ret == 0, on_standard()))
#define ON_FOLDER(...)   FN(__VA_ARGS__, GIVES(ret, fds_fresh(dirfd(ret), false)))
#define ON_STREAM(...)   FN(__VA_ARGS__, GIVES(ret, fds_fresh(fileno_unlocked(ret), false)))

/* The C library's headers declare pairs of descriptors as arrays. */
#if __GNUC__ >= 11
#pragma GCC diagnostic ignored "-Warray-parameter"
#endif

#define WRAP_TABLE "profiler/src/modules/posix/fresh.def"
#include "../../runtime/wrap_expand.h"
