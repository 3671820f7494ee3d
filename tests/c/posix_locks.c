/* Waits for locks that another process holds, taken in each way, and prints the values that the log must
 * have: "LOCKS name locks exclusive refused waits spent waited". The last two are upper bounds in seconds: of
 * all calls together, and of the longest call. Each wait takes 300 ms at least. */
#include "posix_expect.h"

#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>

enum way { BY_FCNTL, BY_OFD, BY_FLOCK, BY_LOCKF, WAYS };

static const char *const NAMES[] = {"fcntl.dat", "ofd.dat", "flock.dat", "lockf.dat"};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int set_lock(int fd, enum way way, short type, int waits)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    if (way == BY_FCNTL)
        return fcntl(fd, waits ? F_SETLKW : F_SETLK, &lock);
    if (way == BY_OFD)
        return fcntl(fd, waits ? F_OFD_SETLKW : F_OFD_SETLK, &lock);
    if (way == BY_FLOCK)
        return flock(fd, (type == F_UNLCK   ? LOCK_UN
                          : type == F_WRLCK ? LOCK_EX
                                            : LOCK_SH) |
                             (waits ? 0 : LOCK_NB));
    int command = type == F_UNLCK ? F_ULOCK : waits ? F_LOCK : F_TLOCK;
    return type == F_UNLCK ? lockf64(fd, command, 0) : lockf(fd, command, 0);
}

static double spent; /* Seconds spent in the calls on one file. */

static int set(int fd, enum way way, short type, int waits)
{
    double begin = now();
    int result = set_lock(fd, way, type, waits);
    spent += now() - begin;
    return result;
}

/* Waits until a process sleeps. */
static void await_sleep(pid_t process)
{
    char path[64], text[256] = "";
    const char *state = text;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    while (*state != 'S') {
        int fd = open(path, O_RDONLY);
        MUST(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
        MUST((state = strrchr(text, ')')) != NULL);
        state += 2;
        usleep(1000);
    }
}

/* Starts a child that takes the lock, tells the parent, and holds the lock until the parent has waited 300
 * ms. */
static pid_t hold(enum way way)
{
    int ends[2];
    char told;
    MUST(pipe(ends) == 0);
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        int fd = open(NAMES[way], O_RDWR);
        MUST(fd >= 0 && set(fd, way, F_WRLCK, 1) == 0);
        MUST(write(ends[1], "x", 1) == 1);
        await_sleep(getppid());
        usleep(300000);
        _exit(0);
    }
    MUST(read(ends[0], &told, 1) == 1);
    MUST(close(ends[0]) == 0 && close(ends[1]) == 0);
    return child;
}

static void wait_for_lock(enum way way)
{
    int fd = open(NAMES[way], O_RDWR | O_CREAT, 0600), status;
    MUST(fd >= 0);
    pid_t child = hold(way);
    spent = 0;
    MUST(set(fd, way, F_WRLCK, 0) == -1);
    double before = spent;
    MUST(set(fd, way, F_WRLCK, 1) == 0);
    double waited = spent - before;
    MUST(set(fd, way, F_UNLCK, 1) == 0);
    int shared = way != BY_LOCKF;
    MUST(!shared || (set(fd, way, F_RDLCK, 1) == 0 && set(fd, way, F_UNLCK, 1) == 0));
    MUST(waitpid(child, &status, 0) == child && status == 0 && close(fd) == 0);
    dprintf(1, "LOCKS %s %d 1 1 1 %.6f %.6f\n", NAMES[way], 1 + shared, spent, waited);
}

int main(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (enum way way = 0; way < WAYS; way++)
        wait_for_lock(way);
    int fd = open("asked.dat", O_RDWR | O_CREAT, 0600);
    MUST(fcntl(fd, F_GETLK, &lock) == 0 && lockf(fd, F_TEST, 0) == 0);
    MUST(fcntl(fd, F_SETLK, (void *)8) == -1 && errno == EFAULT && close(fd) == 0);
    MUST(fcntl(fd, F_SETLK, (void *)8) == -1 && errno == EBADF); /* The kernel does not read the address. */
    return 0;
}
