/* The interposed calls: each makes the real call first, and then charges for it. */
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
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
#include "kinds.h"
#include "sys.h"

#define EXPORT __attribute__((visibility("default")))

/* Looks up the next definition after this library. */
#define REAL(name)                                                                                           \
    ({                                                                                                       \
        static __typeof__(&name) real;                                                                       \
        if (!real)                                                                                           \
            real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                               \
        real;                                                                                                \
    })

/* Declares all functions of the tables, because glibc's headers do not declare all of them. If a header
 * declares one too, the compiler refuses a row that differs from it. */
#define FN(ret_t, name, params, ...)  ret_t name params;
#define FNB(ret_t, name, params, ...) ret_t name params;
#define FNV(ret_t, name, params, ...) ret_t name params;
#define FNZ(name, params, ...)        void name params;
#include "calls/posix.def"
#include "calls/stdio.def"
#undef FN
#undef FNB
#undef FNV
#undef FNZ

/* Flag CLOSE_RANGE_CLOEXEC of close_range. With it the call closes nothing, but marks the descriptors to be
 * closed at an exec. */
#define CLOEXEC_ONLY (1 << 2)

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

/* The C library's list of open streams, the newest first. */
void _IO_list_lock(void);
void _IO_list_unlock(void);
FILE *_IO_iter_begin(void);
FILE *_IO_iter_next(FILE *);

/* Flushes a stream and charges its bytes where they land. */
static void flush_charged(FILE *stream)
{
    int fd = fileno_unlocked(stream);
    emulation_appending(fd, emulation_now());
    REAL(fflush)(stream);
    emulation_charge_stream(fd, emulation_now());
}

/* Flushes all streams in the C library's order, so that streams which append to one file are charged in the
 * order in which their bytes land there. */
static void flush_all(void)
{
    _IO_list_lock();
    for (FILE *stream = _IO_iter_begin(); stream; stream = _IO_iter_next(stream))
        if (__fpending(stream) > 0)
            flush_charged(stream);
    _IO_list_unlock();
}

/* Prepares for a flush. Before a flush of all streams, flushes and charges each of them, so that the
 * program's own call has nothing left to write. Before a flush of one stream, only notes where its bytes will
 * land if it appends. */
static void flushing(FILE *stream)
{
    if (!stream)
        flush_all();
    else if (emulation_find(fileno(stream)))
        emulation_appending(fileno(stream), emulation_now());
}

/* Charges the bytes that a seek flushes from the stream's buffer. The seek itself then only moves the
 * position, which is not charged. */
static void moving(FILE *stream)
{
    if (emulation_find(fileno(stream)))
        flush_charged(stream);
}

static void closing(FILE *stream)
{
    int fd = fileno(stream);
    if (emulation_find(fd)) {
        flush_charged(stream);
        emulation_closing(fd);
    }
}

static void opened(FILE *stream)
{
    if (stream) {
        emulation_opened(fileno(stream));
        emulation_streams(fileno(stream));
    }
}

static bool duplicates(int command) { return command == F_DUPFD || command == F_DUPFD_CLOEXEC; }

/* Flushes and charges all streams at the end of the program: the C library flushes streams that were left
 * open only after this function has run. */
static void finish(void)
{
    if (emulation_has_streams())
        flush_all();
    emulation_finish();
}

__attribute__((constructor)) static void start(void)
{
    if (emulation_start())
        atexit(finish);
}

/* Result of `answer` for a path outside the mount: the file system must answer. Other results are the bytes
 * of the layout, or -1 with errno. */
enum { ELSEWHERE = -2 };

static ssize_t answer(const char *attribute, int fd, const char *path, void *value, size_t room)
{
    ssize_t bytes = strcmp(attribute, "lustre.lov") == 0 ? emulation_layout(fd, path, value, room) : -1;
    if (bytes != -ERANGE)
        return bytes >= 0 ? bytes : ELSEWHERE;
    errno = ERANGE;
    return -1;
}

#define WRAPPER(linkage, ret_t, name, params, real_call, before, after)                                      \
    linkage ret_t name params                                                                                \
    {                                                                                                        \
        if (!emulation.on)                                                                                   \
            return real_call;                                                                                \
        before;                                                                                              \
        __attribute__((unused)) double began = emulation_now();                                              \
        ret_t ret = real_call;                                                                               \
        after;                                                                                               \
        return ret;                                                                                          \
    }

#define FN(ret_t, name, params, args, after) FNB(ret_t, name, params, args, NOTHING, after)
#define FNB(ret_t, name, params, args, before, after)                                                        \
    WRAPPER(EXPORT, ret_t, name, params, REAL(name) args, before, after)
#define FNV(ret_t, name, params, last, fetch, inner, target, args, before, after)                            \
    WRAPPER(static inline, ret_t, list_##name, inner, REAL(target) args, before, after)                      \
    EXPORT ret_t name params                                                                                 \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, last);                                                                                \
        fetch;                                                                                               \
        ret_t ret = list_##name args;                                                                        \
        va_end(list);                                                                                        \
        return ret;                                                                                          \
    }
#define FNZ(name, params, args, before, after)                                                               \
    WRAPPER(static inline, int, void_##name, params, (REAL(name) args, 0), before, after)                    \
    EXPORT void name params { (void)void_##name args; }
#include "calls/posix.def"
#include "calls/stdio.def"
