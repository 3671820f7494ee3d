/* Defines how the emulation charges each call in the project's calls/posix.def and stdio.def.
 *   FN (return type, name, parameters, arguments, after)
 *   FNB(return type, name, parameters, arguments, before, after)
 *   FNV(…, before, after) for variable arguments, FNZ(name, …, before, after) for calls that return nothing
 * If emulation is on, `before` runs ahead of the real call, and `after` behind it with `ret` and `began`. */
#ifndef OST_KINDS_H
#define OST_KINDS_H

#include "calls/libc_types.h"
#include "calls/row.h"

#define NOTHING (void)0

#define CHARGE(direction, offset) emulation_charge(fd, direction, offset, ret, began)
#define ON_READ(...)              FN(__VA_ARGS__, CHARGE(OST_READ, HERE))
#define ON_READV(...)             FN(__VA_ARGS__, CHARGE(OST_READ, HERE))
#define ON_PREAD(...)             FN(__VA_ARGS__, CHARGE(OST_READ, offset))
#define ON_PREADV(...)            FN(__VA_ARGS__, CHARGE(OST_READ, offset))
#define ON_WRITE(...)             FN(__VA_ARGS__, CHARGE(OST_WRITE, HERE))
#define ON_WRITEV(...)            FN(__VA_ARGS__, CHARGE(OST_WRITE, HERE))
#define ON_PWRITE(...)            FN(__VA_ARGS__, CHARGE(OST_WRITE, offset))
#define ON_PWRITEV(...)           FN(__VA_ARGS__, CHARGE(OST_WRITE, offset))
#define ON_PWRITEV2(...)          ON_PWRITEV(__VA_ARGS__)
#define ON_VDPRINTF(...)          FN(__VA_ARGS__, CHARGE(OST_WRITE, HERE))
#define ON_DPRINTF(...)           FNV(__VA_ARGS__, NOTHING, CHARGE(OST_WRITE, HERE))

/* Copies inside the kernel are charged as a read and a write. FROM and TO are the offsets at which these
 * began, if the call has advanced an offset; else HERE. */
#define FROM                    (from_offset && ret >= 0 ? *from_offset - ret : HERE)
#define TO                      (to_offset && ret >= 0 ? *to_offset - ret : HERE)
#define ON_SENDFILE(...)        FN(__VA_ARGS__, copied(from, FROM, to, HERE, ret, began))
#define ON_COPY_FILE_RANGE(...) FN(__VA_ARGS__, copied(from, FROM, to, TO, ret, began))
#define ON_SPLICE(...)          FN(__VA_ARGS__, copied(from, FROM, to, TO, ret, began))

/* Asynchronous transfers are charged when they are submitted. The program waits for them, by the model, when
 * it takes the result. */
#define SUBMIT(direction)                                                                                    \
    emulation_submit(control->aio_fildes, direction, control->aio_offset, (int64_t)control->aio_nbytes)
#define ON_AIO_READ(...)   FN(__VA_ARGS__, if (ret == 0) SUBMIT(OST_READ))
#define ON_AIO_WRITE(...)  FN(__VA_ARGS__, if (ret == 0) SUBMIT(OST_WRITE))
#define ON_AIO_RETURN(...) FNB(__VA_ARGS__, emulation_await(), NOTHING)
#define ON_LIO_LISTIO(...)                                                                                   \
    FN(__VA_ARGS__, if (ret == 0) listed(list_mode, (struct aiocb *const *)controls, count))

/* Calls that set sizes, map files or make data durable. */
#define ON_FTRUNCATE(...) FN(__VA_ARGS__, if (ret == 0) emulation_size_set(fd, file_bytes))
#define ON_FALLOCATE(...) FN(__VA_ARGS__, if (ret == 0) emulation_size_set(fd, offset + file_bytes))
#define ON_TRUNCATE(...)  FN(__VA_ARGS__, if (ret == 0) emulation_path_size_set(path, file_bytes))
#define ON_MMAP(...)      FN(__VA_ARGS__, emulation_mapped(fd))
#define ON_FSYNC(...)     FN(__VA_ARGS__, emulation_flush(fd, began))
#define ON_FDATASYNC(...) FN(__VA_ARGS__, emulation_flush(fd, began))

/* Calls that open, copy or close descriptors. */
#define OPENED           emulation_opened(ret)
#define ON_OPEN(...)     FNV(__VA_ARGS__, NOTHING, OPENED)
#define ON_OPENAT(...)   FNV(__VA_ARGS__, NOTHING, OPENED)
#define ON_OPEN_2(...)   FN(__VA_ARGS__, OPENED)
#define ON_OPENAT_2(...) FN(__VA_ARGS__, OPENED)
#define ON_CREAT(...)    FN(__VA_ARGS__, OPENED)
#define ON_MKSTEMP(...)  FN(__VA_ARGS__, OPENED)
#define ON_MKOSTEMP(...) FN(__VA_ARGS__, OPENED)
#define ON_DUP(...)      FN(__VA_ARGS__, if (ret >= 0) emulation_duplicated(fd, ret))
#define ON_DUP2(...)                                                                                         \
    FNB(__VA_ARGS__, if (fd != copy) emulation_closing(copy), if (ret >= 0) emulation_duplicated(fd, ret))
#define ON_DUP3(...) ON_DUP2(__VA_ARGS__)
#define ON_FCNTL(...)                                                                                        \
    FNV(__VA_ARGS__, NOTHING, if (ret >= 0 && duplicates(command)) emulation_duplicated(fd, ret))
#define ON_CLOSE(...) FNB(__VA_ARGS__, emulation_closing(fd), NOTHING)
#define ON_CLOSE_RANGE(...)                                                                                  \
    FNB(__VA_ARGS__, if (!(flags & CLOEXEC_ONLY)) emulation_closing_range(first, last), NOTHING)
#define ON_CLOSEFROM(ret_t, ...)                                                                             \
    FNZ(__VA_ARGS__, emulation_closing_range(first_fd > 0 ? (unsigned)first_fd : 0, UINT_MAX), NOTHING)

/* The position of a stream is charged before it is set. */
#define ON_LSEEK(...)         FNB(__VA_ARGS__, emulation_charge_stream(fd, emulation_now()), emulation_moved(fd))
#define ON_FSEEK(...)         FNB(__VA_ARGS__, moving(stream), emulation_moved(fileno(stream)))
#define ON_FSETPOS(...)       FNB(__VA_ARGS__, moving(stream), emulation_moved(fileno(stream)))
#define ON_REWIND(ret_t, ...) FNZ(__VA_ARGS__, moving(stream), emulation_moved(fileno(stream)))
#define ON_FOPEN(...)         FN(__VA_ARGS__, opened(ret))
#define ON_FREOPEN(...)       FNB(__VA_ARGS__, closing(stream), opened(ret))
#define ON_FDOPEN(...)        FN(__VA_ARGS__, if (ret) emulation_streams(fd))
#define ON_FFLUSH(...)                                                                                       \
    FNB(__VA_ARGS__, flushing(stream), if (stream) emulation_charge_stream(fileno(stream), began))
#define ON_FCLOSEALL(...) FNB(__VA_ARGS__, flushing(NULL), NOTHING)
#define ON_FCLOSE(...)    FNB(__VA_ARGS__, closing(stream), NOTHING)

/* Requests about layouts are answered here for paths below the mount, and by the file system for all
 * others. */
#define ANSWER(fd, path)                                                                                     \
    ssize_t bytes = answer(attribute, fd, path, value, room);                                                \
    if (bytes != ELSEWHERE)                                                                                  \
    return bytes
#define ON_FGETXATTR(...) FNB(__VA_ARGS__, ANSWER(fd, NULL), NOTHING)
#define ON_GETXATTR(...)  FNB(__VA_ARGS__, ANSWER(-1, path), NOTHING)
#define ON_IOCTL(...)                                                                                        \
    FNV(__VA_ARGS__, int result; if (lustre_ioctl(fd, request, value, &result)) return result, NOTHING)

/* The magic number of the file system: Lustre's below the mount, if the run asks for that. */
#define MAGIC(fd, path) system->f_type = lustre_magic(fd, path, system->f_type)
#define ON_STATFS(...)  FN(__VA_ARGS__, if (ret == 0) MAGIC(-1, path))
#define ON_FSTATFS(...) FN(__VA_ARGS__, if (ret == 0) MAGIC(fd, NULL))

/* Calls that move no data, and calls whose data is charged when their stream is flushed. */
#define ON_FILENO(...)
#define ON_MUNMAP(...)
#define ON_MREMAP(...)
#define ON_MADVISE(...)
#define ON_MSYNC(...)
#define ON_FLOCK(...)
#define ON_LOCKF(...)
#define ON_TMPFILE(...)
#define ON_CLOSEDIR(...)
#define ON_STAT(...)
#define ON_FSTAT(...)
#define ON_FSTATAT(...)
#define ON_STATX(...)
#define ON_RENAME(...)
#define ON_RENAMEAT(...)
#define ON_RENAMEAT2(...)
#define ON_LINK(...)
#define ON_LINKAT(...)
#define ON_SYMLINK(...)
#define ON_UNLINK(...)
#define ON_UNLINKAT(...)
#define ON_RMDIR(...)
#define ON_MKDIR(...)
#define ON_MKDIRAT(...)
#define ON_FWRITE(...)
#define ON_FPUTC(...)
#define ON_PUTCHAR(...)
#define ON_PUTW(...)
#define ON_FPUTS(...)
#define ON_PUTS(...)
#define ON_VFPRINTF(...)
#define ON_VPRINTF(...)
#define ON_FPRINTF(...)
#define ON_PRINTF(...)
#define ON_FREAD(...)
#define ON_FGETC(...)
#define ON_GETCHAR(...)
#define ON_GETW(...)
#define ON_FGETS(...)
#define ON_GETLINE(...)
#define ON_FPUTWC(...)
#define ON_PUTWCHAR(...)
#define ON_FPUTWS(...)
#define ON_VFWPRINTF(...)
#define ON_VWPRINTF(...)
#define ON_FWPRINTF(...)
#define ON_WPRINTF(...)
#define ON_FGETWC(...)
#define ON_GETWCHAR(...)
#define ON_FGETWS(...)
#define ON_UNGETWC(...)
#define ON_UNGETC(...)
#define ON_VFSCANF(...)
#define ON_VSCANF(...)
#define ON_FSCANF(...)
#define ON_SCANF(...)

#endif
