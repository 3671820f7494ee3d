/* The interposed calls: the real one first, then its charge. */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "emulation.h"
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

static void moved(FILE *stream)
{
    struct ost_file *file = emulation_find(fileno(stream));
    if (file)
        file->stream_position = sys_seek(fileno(stream), 0, SEEK_CUR);
}

static void closing(FILE *stream)
{
    int fd = fileno(stream);
    if (emulation_find(fd)) {
        REAL(fflush)(stream);
        emulation_closing(fd);
    }
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
        if (!emulation_on())                                                                                 \
            return REAL(name) args;                                                                          \
        before;                                                                                              \
        __attribute__((unused)) double began = emulation_now();                                              \
        ret_t ret = REAL(name) args;                                                                         \
        after;                                                                                               \
        return ret;                                                                                          \
    }
#include "calls.def"
#undef CALL

/* Whether an open that may create its file will do so. */
static bool will_create(int folder, const char *path, int flags)
{
    struct statx info;
    return emulation_on() && (flags & O_CREAT) && sys_statx(folder, path, &info) != 0;
}

#define OPEN_AT(name, folder_param, folder)                                                                  \
    EXPORT int name(folder_param const char *path, int flags, ...)                                           \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, flags);                                                                               \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;                            \
        va_end(list);                                                                                        \
        bool fresh = will_create(folder, path, flags);                                                       \
        int fd = CALL_OPEN(name);                                                                            \
        emulation_opened(fd, fresh);                                                                         \
        return fd;                                                                                           \
    }
#define FOLDER int folder,
#define NONE
#define CALL_OPEN(name) REAL(name)(path, flags, mode)
OPEN_AT(open, NONE, AT_FDCWD)
OPEN_AT(open64, NONE, AT_FDCWD)
#undef CALL_OPEN
#define CALL_OPEN(name) REAL(name)(folder, path, flags, mode)
OPEN_AT(openat, FOLDER, folder)
OPEN_AT(openat64, FOLDER, folder)

#define OPEN_AS(ret_t, name, params, args, flags, descriptor, adopt)                                         \
    EXPORT ret_t name params                                                                                 \
    {                                                                                                        \
        bool fresh = will_create(AT_FDCWD, path, flags);                                                     \
        ret_t ret = REAL(name) args;                                                                         \
        adopt(emulation_opened(descriptor, fresh), flags);                                                   \
        return ret;                                                                                          \
    }

static void plain(struct ost_file *file, int flags)
{
    (void)file;
    (void)flags;
}

static void stream(struct ost_file *file, int flags)
{
    if (file) {
        file->stream_position = flags & O_APPEND ? file->accounted : 0;
        file->stream_writes = (flags & O_ACCMODE) != O_RDONLY;
    }
}

static int flags_of(const char *mode)
{
    int access = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    return access | (*mode == 'r' ? 0 : O_CREAT) | (*mode == 'a' ? O_APPEND : 0);
}

OPEN_AS(int, __open_2, (const char *path, int flags), (path, flags), flags, ret, plain)
OPEN_AS(int, __open64_2, (const char *path, int flags), (path, flags), flags, ret, plain)
OPEN_AS(int, creat, (const char *path, mode_t mode), (path, mode), O_CREAT | O_WRONLY, ret, plain)
OPEN_AS(int, creat64, (const char *path, mode_t mode), (path, mode), O_CREAT | O_WRONLY, ret, plain)
OPEN_AS(FILE *, fopen, (const char *path, const char *mode), (path, mode), flags_of(mode),
        ret ? fileno(ret) : -1, stream)
OPEN_AS(FILE *, fopen64, (const char *path, const char *mode), (path, mode), flags_of(mode),
        ret ? fileno(ret) : -1, stream)

static void duplicate_command(int fd, int command, int ret)
{
    if (emulation_on() && ret >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
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
