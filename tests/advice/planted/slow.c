/* A library for LD_PRELOAD, behind the profiler, that makes the storage below a folder slow on purpose: each
   call on a file there sleeps for the time that SLOW gives. Sleeping does not depend on how busy the machine
   is, so that a fault planted in this way has the same strength in every run.

   SLOW is a list of KEY=VALUE, separated by commas: `write`, `read`, `open`, `stat`, `sync` and `seek` are
   seconds for each call, `jump` is the cost of a read or write that does not begin at the end of the previous
   one, `rate` the bytes per second of one process, and `cold` the rate of bytes that move for the first time,
   if it differs. `factor` multiplies all of these on the ranks from `from` to `to`, and in files whose path
   contains SLOW_IN. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 4096 };

static struct {
    bool known;
    double write, read, open, stat, sync, seek, jump, rate, cold, factor;
    long first, last, rank;
    char folder[256], word[64];
} slow;

static struct {
    bool below, marked;
    off_t at, end, warm;
} files[MOST_FILES];

static double value_of(const char *key, double otherwise)
{
    const char *text = getenv("SLOW");
    size_t length = strlen(key);
    while (text && *text) {
        if (!strncmp(text, key, length) && text[length] == '=')
            return atof(text + length + 1);
        text = strchr(text, ',');
        text += text != NULL;
    }
    return otherwise;
}

static void learn(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *folder = getenv("SLOW_FOLDER"),
               *word = getenv("SLOW_IN");
    slow.known = true;
    slow.rank = rank ? atol(rank) : 0;
    slow.write = value_of("write", 0);
    slow.read = value_of("read", 0);
    slow.open = value_of("open", 0);
    slow.stat = value_of("stat", 0);
    slow.sync = value_of("sync", 0);
    slow.seek = value_of("seek", 0);
    slow.jump = value_of("jump", 0);
    slow.rate = value_of("rate", 0);
    slow.cold = value_of("cold", 0);
    slow.factor = value_of("factor", 1);
    slow.first = (long)value_of("from", 0);
    slow.last = (long)value_of("to", -1);
    snprintf(slow.folder, sizeof slow.folder, "%s", folder ? folder : "data/");
    snprintf(slow.word, sizeof slow.word, "%s", word ? word : "");
}

static void wait_for(double seconds, bool marked)
{
    static _Thread_local double debt;
    if (marked || (slow.rank >= slow.first && slow.rank <= slow.last))
        seconds *= slow.factor;
    debt += seconds;
    if (debt < 1e-3)
        return;
    struct timespec begin, end, left = {(time_t)debt, (long)((debt - (double)(time_t)debt) * 1e9)};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
    clock_gettime(CLOCK_MONOTONIC, &end);
    debt -= (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static bool is_below(const char *path)
{
    if (!slow.known)
        learn();
    return path && strstr(path, slow.folder);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int opened(int file, const char *path)
{
    if (is_below(path)) {
        int error = errno;
        bool marked = *slow.word && strstr(path, slow.word);
        wait_for(slow.open, marked);
        errno = error;
        if (file >= 0 && file < MOST_FILES) {
            files[file].below = true;
            files[file].marked = marked;
            files[file].at = files[file].end = files[file].warm = 0;
        }
    }
    return file;
}

static void moved(int file, ssize_t bytes, off_t offset, double seconds)
{
    if (bytes <= 0 || file < 0 || file >= MOST_FILES || !files[file].below)
        return;
    double rate = slow.cold > 0 && offset >= files[file].warm ? slow.cold : slow.rate;
    if (rate > 0)
        seconds += (double)bytes / rate;
    if (offset + bytes > files[file].warm)
        files[file].warm = offset + bytes;
    if (offset != files[file].end)
        seconds += slow.jump;
    files[file].end = offset + bytes;
    wait_for(seconds, files[file].marked);
}

static void moved_here(int file, ssize_t bytes, double seconds)
{
    if (bytes <= 0 || file < 0 || file >= MOST_FILES || !files[file].below)
        return;
    moved(file, bytes, files[file].at, seconds);
    files[file].at += bytes;
}

static void called(int file, double seconds)
{
    if (file >= 0 && file < MOST_FILES && files[file].below)
        wait_for(seconds, files[file].marked);
}

#define OPEN(NAME)                                                                                           \
    int NAME(const char *path, int flags, ...)                                                               \
    {                                                                                                        \
        va_list rest;                                                                                        \
        va_start(rest, flags);                                                                               \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                            \
        va_end(rest);                                                                                        \
        return opened(((int (*)(const char *, int, ...))next(#NAME))(path, flags, mode), path);              \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(NAME)                                                                                         \
    int NAME(int folder, const char *path, int flags, ...)                                                   \
    {                                                                                                        \
        va_list rest;                                                                                        \
        va_start(rest, flags);                                                                               \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                            \
        va_end(rest);                                                                                        \
        return opened(((int (*)(int, const char *, int, ...))next(#NAME))(folder, path, flags, mode), path); \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int file)
{
    if (file >= 0 && file < MOST_FILES)
        files[file].below = false;
    return ((int (*)(int))next("close"))(file);
}

int dup2(int old, int file)
{
    int done = ((int (*)(int, int))next("dup2"))(old, file);
    if (done >= 0 && done < MOST_FILES && old >= 0 && old < MOST_FILES)
        files[done] = files[old];
    return done;
}

ssize_t write(int file, const void *data, size_t bytes)
{
    ssize_t done = ((ssize_t(*)(int, const void *, size_t))next("write"))(file, data, bytes);
    moved_here(file, done, slow.write);
    return done;
}

ssize_t read(int file, void *data, size_t bytes)
{
    ssize_t done = ((ssize_t(*)(int, void *, size_t))next("read"))(file, data, bytes);
    moved_here(file, done, slow.read);
    return done;
}

#define AT(NAME, BUFFER, KIND)                                                                               \
    ssize_t NAME(int file, BUFFER data, size_t bytes, off_t offset)                                          \
    {                                                                                                        \
        ssize_t done = ((ssize_t(*)(int, BUFFER, size_t, off_t))next(#NAME))(file, data, bytes, offset);     \
        moved(file, done, offset, slow.KIND);                                                                \
        return done;                                                                                         \
    }
AT(pwrite, const void *, write)
AT(pwrite64, const void *, write)
AT(pread, void *, read)
AT(pread64, void *, read)

#define SEEK(NAME)                                                                                           \
    off_t NAME(int file, off_t offset, int whence)                                                           \
    {                                                                                                        \
        off_t at = ((off_t(*)(int, off_t, int))next(#NAME))(file, offset, whence);                           \
        if (at >= 0 && file >= 0 && file < MOST_FILES)                                                       \
            files[file].at = at;                                                                             \
        called(file, slow.seek);                                                                             \
        return at;                                                                                           \
    }
SEEK(lseek)
SEEK(lseek64)

#define SYNC(NAME)                                                                                           \
    int NAME(int file)                                                                                       \
    {                                                                                                        \
        int done = ((int (*)(int))next(#NAME))(file);                                                        \
        called(file, slow.sync);                                                                             \
        return done;                                                                                         \
    }
SYNC(fsync)
SYNC(fdatasync)

#define STAT(NAME, RESULT)                                                                                   \
    int NAME(const char *path, struct RESULT *found)                                                         \
    {                                                                                                        \
        int done = ((int (*)(const char *, struct RESULT *))next(#NAME))(path, found), error = errno;        \
        if (is_below(path))                                                                                  \
            wait_for(slow.stat, false);                                                                      \
        errno = error;                                                                                       \
        return done;                                                                                         \
    }
STAT(stat, stat)
STAT(lstat, stat)
STAT(stat64, stat64)
STAT(lstat64, stat64)
