/* harm_stalled WHAT: one thread waits for the system inside the recorder, another one opens and writes.
 *   layout   waits in fgetxattr of the file that both use, until the other thread is done: the other thread
 *            may not wait for it
 *   position waits in ftello of a stream after a seek, in the same way
 *   spool    waits in fallocate of the spool that grows, longer than the time after which a lock counts as
 *            abandoned: the other thread must wait all the same
 * The recorder calls this program's own fgetxattr and ftello, and a trap passes its fallocate and sched_yield
 * to this program. Prints what went wrong. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trapped_calls.h"

/* Turns after which a lock counts as abandoned. Two locks are held while the spool grows, so that another
 * thread waits for this number of turns twice. */
enum { ABANDONED_TURNS = 1 << 20, LOCKS = 2, MORE = 1000, WAITING_MOST = 900000, FILES = 2000 };

static atomic_int to_stall, stalled, released;
static atomic_long turns;

/* Sleeps by a system call, because the thread that waits here may be in a signal handler. */
static void stall(void)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    const long values[6] = {(long)&millisecond};
    stalled = 1;
    for (int i = 0; i < WAITING_MOST && !released; i++)
        make_call(SYS_nanosleep, values);
    stalled = 0;
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    if (to_stall == 1 && atomic_exchange(&to_stall, 0))
        stall();
    errno = ENODATA;
    return -1;
}

off_t ftello(FILE *stream)
{
    (void)stream;
    if (to_stall == 3 && atomic_exchange(&to_stall, 0))
        stall();
    return -1;
}

static long answer(long number, const long values[6])
{
    if (number == SYS_fallocate && to_stall == 2) {
        to_stall = 0;
        stall();
    }
    if (number != SYS_sched_yield)
        return make_call(number, values);
    if (stalled && ++turns > LOCKS * ABANDONED_TURNS + MORE)
        released = 1;
    return 0;
}

static void use(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    write(fd, "text", 4);
    close(fd);
}

static void seek(const char *name)
{
    FILE *stream = fopen(name, "a");
    fseek(stream, 0, SEEK_END);
    fclose(stream);
}

static void *other(void *what)
{
    while (!stalled)
        continue;
    if (strcmp(what, "position") == 0)
        seek("shared.dat");
    else
        use(strcmp(what, "layout") == 0 ? "shared.dat" : "other.dat");
    if (strcmp(what, "spool") != 0)
        printf(turns > 0 ? "it waited\n" : "");
    else
        printf(!released ? "it got in\n" : "");
    released = 1;
    return NULL;
}

int main(int count, char **argument)
{
    const char *what = count > 1 ? argument[1] : "layout";
    int layout = strcmp(what, "layout") == 0, spool = strcmp(what, "spool") == 0;
    char name[32];
    pthread_t thread;
    trap_calls(SYS_fallocate, SYS_sched_yield, answer);
    use("before.dat");
    pthread_create(&thread, NULL, other, (void *)what);
    if (layout) {
        to_stall = 1;
        use("shared.dat");
    } else if (!spool) {
        to_stall = 3;
        seek("shared.dat");
    }
    for (int i = 0; i < FILES && spool && !released; i++) {
        to_stall = i == FILES / 4 ? 2 : to_stall;
        snprintf(name, sizeof name, "%d.dat", i);
        use(name);
    }
    pthread_join(thread, NULL);
    return 3;
}
