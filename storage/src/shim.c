/* The interposed calls: the real one first, then its charge. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "emulation.h"
#include "lustre.h"
#include "sys.h"

#define EXPORT __attribute__((visibility("default")))

/* The next definition behind this library. */
#define REAL(name)                                                                                           \
    ({                                                                                                       \
        static __typeof__(&name) real;                                                                       \
        if (!real)                                                                                           \
            real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                               \
        real;                                                                                                \
    })

/* Entry points of glibc that its headers do not always declare. */
ssize_t __read_chk(int fd, void *buf, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t room);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
int __vdprintf_chk(int fd, int level, const char *format, va_list list);
int __dprintf_chk(int fd, int level, const char *format, ...);
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);

#define CLOEXEC_ONLY (1 << 2) /* CLOSE_RANGE_CLOEXEC: nothing is closed now */

static void copied(int in, off_t from, int out, off_t to, ssize_t bytes, double began)
{
    emulation_charge(in, OST_READ, from, bytes, began);
    emulation_charge(out, OST_WRITE, to, bytes, began);
}

static void listed(int mode, struct aiocb *const list[], int n)
{
    for (int i = 0; i < n; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
            emulation_submit(list[i]->aio_fildes, list[i]->aio_lio_opcode == LIO_READ ? OST_READ : OST_WRITE,
                             list[i]->aio_offset, (int64_t)list[i]->aio_nbytes);
    if (mode == LIO_WAIT)
        emulation_await();
}

/* A seek flushes the stream's buffer and then moves the position, which is no transfer. */
static void moving(FILE *stream)
{
    if (emulation_find(fileno(stream))) {
        REAL(fflush)(stream);
        emulation_charge_stream(fileno(stream), emulation_now());
    }
}

static void closing(FILE *stream)
{
    int fd = fileno(stream);
    if (emulation_find(fd)) {
        REAL(fflush)(stream);
        emulation_closing(fd);
    }
}

/* Streams that nobody closed are flushed by the C library only after all this. */
static void finish(void)
{
    if (emulation_has_streams())
        REAL(fflush)(NULL);
    emulation_finish();
}

__attribute__((constructor)) static void start(void)
{
    if (emulation_start())
        atexit(finish);
}

#define ANSWER(name, fd, path, value, room)                                                                  \
    if (strcmp(name, "lustre.lov") == 0) {                                                                   \
        ssize_t bytes = emulation_layout(fd, path, value, room);                                             \
        if (bytes == -ERANGE)                                                                                \
            return errno = ERANGE, -1;                                                                       \
        if (bytes >= 0)                                                                                      \
            return bytes;                                                                                    \
    }

#define CALL(ret_t, name, params, args, before, after)                                                       \
    EXPORT ret_t name params                                                                                 \
    {                                                                                                        \
        if (!emulation.on)                                                                                   \
            return REAL(name) args;                                                                          \
        before;                                                                                              \
        __attribute__((unused)) double began = emulation_now();                                              \
        ret_t ret = REAL(name) args;                                                                         \
        after;                                                                                               \
        return ret;                                                                                          \
    }
#include "calls.def"
#undef CALL

#define OPEN_AT(name, folder_param, call)                                                                    \
    EXPORT int name(folder_param const char *path, int flags, ...)                                           \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, flags);                                                                               \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;                            \
        va_end(list);                                                                                        \
        int fd = REAL(name) call;                                                                            \
        emulation_opened(fd);                                                                                \
        return fd;                                                                                           \
    }
#define FOLDER int folder,
#define NONE
OPEN_AT(open, NONE, (path, flags, mode))
OPEN_AT(open64, NONE, (path, flags, mode))
OPEN_AT(openat, FOLDER, (folder, path, flags, mode))
OPEN_AT(openat64, FOLDER, (folder, path, flags, mode))

#define OPEN_AS(name, params, args)                                                                          \
    EXPORT int name params                                                                                   \
    {                                                                                                        \
        int fd = REAL(name) args;                                                                            \
        emulation_opened(fd);                                                                                \
        return fd;                                                                                           \
    }
OPEN_AS(__open_2, (const char *path, int flags), (path, flags))
OPEN_AS(__open64_2, (const char *path, int flags), (path, flags))
OPEN_AS(__openat_2, (int folder, const char *path, int flags), (folder, path, flags))
OPEN_AS(__openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
OPEN_AS(creat, (const char *path, mode_t mode), (path, mode))
OPEN_AS(creat64, (const char *path, mode_t mode), (path, mode))
OPEN_AS(mkstemp, (char *path), (path))
OPEN_AS(mkstemp64, (char *path), (path))
OPEN_AS(mkostemp, (char *path, int flags), (path, flags))
OPEN_AS(mkostemp64, (char *path, int flags), (path, flags))

static FILE *opened(FILE *stream)
{
    if (stream) {
        emulation_opened(fileno(stream));
        emulation_streams(fileno(stream));
    }
    return stream;
}

#define OPEN_STREAM(name)                                                                                    \
    EXPORT FILE *name(const char *path, const char *mode) { return opened(REAL(name)(path, mode)); }
OPEN_STREAM(fopen)
OPEN_STREAM(fopen64)

#define REOPEN_STREAM(name)                                                                                  \
    EXPORT FILE *name(const char *path, const char *mode, FILE *stream)                                      \
    {                                                                                                        \
        closing(stream);                                                                                     \
        return opened(REAL(name)(path, mode, stream));                                                       \
    }
REOPEN_STREAM(freopen)
REOPEN_STREAM(freopen64)

EXPORT void rewind(FILE *stream)
{
    moving(stream);
    REAL(rewind)(stream);
    emulation_moved(fileno(stream));
}

EXPORT int dprintf(int fd, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    double began = emulation_now();
    int ret = REAL(vdprintf)(fd, format, list);
    va_end(list);
    emulation_charge(fd, OST_WRITE, HERE, ret, began);
    return ret;
}

EXPORT int __dprintf_chk(int fd, int level, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    double began = emulation_now();
    int ret = REAL(__vdprintf_chk)(fd, level, format, list);
    va_end(list);
    emulation_charge(fd, OST_WRITE, HERE, ret, began);
    return ret;
}

EXPORT void closefrom(int first)
{
    emulation_closing_range(first > 0 ? (unsigned)first : 0, UINT_MAX);
    REAL(closefrom)(first);
}

static void duplicate_command(int fd, int command, int ret)
{
    if (emulation.on && ret >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
        emulation_duplicated(fd, ret);
}

#define FCNTL(name)                                                                                          \
    EXPORT int name(int fd, int command, ...)                                                                \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, command);                                                                             \
        void *value = va_arg(list, void *);                                                                  \
        va_end(list);                                                                                        \
        int ret = REAL(name)(fd, command, value);                                                            \
        duplicate_command(fd, command, ret);                                                                 \
        return ret;                                                                                          \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    int result;
    return lustre_ioctl(fd, request, argument, &result) ? result : REAL(ioctl)(fd, request, argument);
}
