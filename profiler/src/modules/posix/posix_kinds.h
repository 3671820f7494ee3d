/* The data recorded for each kind of call in calls/posix.def: FN and its relatives are described in
 * ../runtime/wrap.h. */
#ifndef IOLENS_POSIX_KINDS_H
#define IOLENS_POSIX_KINDS_H

#include "calls/libc_types.h"
#include "calls/row.h"

#define OPENED(dir, path, flags, mode) posix_on_open(&c, ret, dir, path, flags, mode)
#define ON_OPEN(...)                   FNV(__VA_ARGS__, (void)0, OPENED(AT_FDCWD, path, flags, mode))
#define ON_OPENAT(...)                 FNV(__VA_ARGS__, (void)0, OPENED(dir, path, flags, mode))
#define ON_OPEN_2(...)                 FN(__VA_ARGS__, OPENED(AT_FDCWD, path, flags, 0))
#define ON_OPENAT_2(...)               FN(__VA_ARGS__, OPENED(dir, path, flags, 0))
#define ON_CREAT(...)                  FN(__VA_ARGS__, OPENED(AT_FDCWD, path, 0, mode))
#define ON_MKSTEMP(...)                FN(__VA_ARGS__, OPENED(AT_FDCWD, pattern, 0, 0))
#define ON_MKOSTEMP(...)               FN(__VA_ARGS__, OPENED(AT_FDCWD, pattern, flags, 0))

#define ON_DUP(...)  FN(__VA_ARGS__, posix_on_dup(&c, ret, fd))
#define ON_DUP2(...) FNB(__VA_ARGS__, connections_before_replace(fd, copy, 0), posix_on_dup(&c, ret, fd))
#define ON_DUP3(...) FNB(__VA_ARGS__, connections_before_replace(fd, copy, flags), posix_on_dup(&c, ret, fd))
#define ON_FCNTL(...)                                                                                        \
    FNV(__VA_ARGS__, locks_before(&c, fd, locks_fcntl_waits(command)),                                       \
        posix_on_fcntl(&c, ret, fd, command, (intptr_t)value))
#define ON_FLOCK(...)                                                                                        \
    FNB(__VA_ARGS__, locks_before(&c, fd, locks_flock_waits(command)), locks_on_flock(&c, ret, fd, command))
#define ON_LOCKF(...)                                                                                        \
    FNB(__VA_ARGS__, locks_before(&c, fd, locks_lockf_waits(command)), locks_on_lockf(&c, ret, fd, command))
#define ON_FILENO(...)   FN(__VA_ARGS__, posix_on_fileno(&c, ret, stream))
#define ON_CLOSE(...)    FNB(__VA_ARGS__, posix_before_close(&c, fd), posix_on_close(&c, ret))
#define ON_CLOSEDIR(...) FNB(__VA_ARGS__, posix_before_close(&c, dirfd(folder)), posix_on_close(&c, ret))
#define ON_CLOSE_RANGE(...)                                                                                  \
    FNB(__VA_ARGS__, posix_before_close_range(first, last, flags),                                           \
        if (ret == 0) posix_on_close_range(&c, first, last, flags))
#define ON_CLOSEFROM(ret_t, ...)                                                                             \
    FNZ(__VA_ARGS__, posix_before_close_range(FIRST_OPEN, UINT_MAX, 0),                                      \
        posix_on_close_range(&c, FIRST_OPEN, UINT_MAX, 0))
#define FIRST_OPEN (unsigned)(first_fd > 0 ? first_fd : 0)

#define READ(offset, aligned)  posix_on_read(&c, fd, ret, offset, aligned)
#define WROTE(offset, aligned) posix_on_write(&c, fd, ret, offset, aligned)
/* If the call failed, the vector may not be readable. */
#define ALIGNED_VECTOR  (ret >= 0 && posix_all_aligned(vector, count))
#define ON_READ(...)    FN(__VA_ARGS__, READ(POSIX_AT_POSITION, posix_aligned(memory)))
#define ON_PREAD(...)   FN(__VA_ARGS__, READ(offset, posix_aligned(memory)))
#define ON_READV(...)   FN(__VA_ARGS__, READ(POSIX_AT_POSITION, ALIGNED_VECTOR))
#define ON_PREADV(...)  FN(__VA_ARGS__, READ(offset, ALIGNED_VECTOR))
#define ON_WRITE(...)   FN(__VA_ARGS__, WROTE(POSIX_AT_POSITION, posix_aligned(data)))
#define ON_PWRITE(...)  FN(__VA_ARGS__, WROTE(offset, posix_aligned(data)))
#define ON_WRITEV(...)  FN(__VA_ARGS__, WROTE(POSIX_AT_POSITION, ALIGNED_VECTOR))
#define ON_PWRITEV(...) FN(__VA_ARGS__, WROTE(offset, ALIGNED_VECTOR))
#define ON_PWRITEV2(...)                                                                                     \
    FN(__VA_ARGS__, if (flags & RWF_APPEND) posix_on_append(&c, fd, ret, offset, ALIGNED_VECTOR);            \
       else WROTE(offset, ALIGNED_VECTOR))

/* The C library writes from its own buffer, which is aligned. */
#define PRINTED                                                                                              \
    if (ret > 0)                                                                                             \
    WROTE(POSIX_AT_POSITION, true)
#define ON_DPRINTF(...)  FNV(__VA_ARGS__, (void)0, PRINTED)
#define ON_VDPRINTF(...) FN(__VA_ARGS__, PRINTED)

#define SUBMITTED(direction) posix_on_aio_submit(&c, direction, (const struct aiocb *)control)
#define ON_AIO_READ(...)     FN(__VA_ARGS__, if (ret == 0) SUBMITTED(POSIX_READING))
#define ON_AIO_WRITE(...)    FN(__VA_ARGS__, if (ret == 0) SUBMITTED(POSIX_WRITING))
#define ON_AIO_RETURN(...)   FN(__VA_ARGS__, posix_on_aio_return(&c, (const struct aiocb *)control, ret))
#define ON_LIO_LISTIO(...)                                                                                   \
    FN(__VA_ARGS__, if (ret == 0) posix_on_aio_list(&c, (struct aiocb *const *)controls, count))

#define ON_LSEEK(...) FN(__VA_ARGS__, posix_on_seek(&c, fd, ret))
#define STATTED(type, event)                                                                                 \
    if (ret != 0)                                                                                            \
        posix_on_failed_stat(&c);                                                                            \
    else if (S_ISREG(type))                                                                                  \
    event
#define ON_STAT(...)    FN(__VA_ARGS__, STATTED(info->st_mode, posix_on_stat(&c, AT_FDCWD, path)))
#define ON_FSTAT(...)   FN(__VA_ARGS__, STATTED(info->st_mode, posix_on_fstat(&c, fd)))
#define ON_FSTATAT(...) FN(__VA_ARGS__, STATTED(info->st_mode, posix_on_statat(&c, dir, path)))
#define ON_STATX(...)                                                                                        \
    FN(__VA_ARGS__,                                                                                          \
       STATTED(extended->stx_mask &STATX_TYPE ? extended->stx_mode : 0, posix_on_statat(&c, dir, path)))

#define MAP_CALL(place)                                                                                      \
    &(struct map_call) { place, bytes, protection, flags, fd, offset }
#define ON_MMAP(...)                                                                                         \
    FNB(__VA_ARGS__, mapped_before_mmap(&c, MAP_CALL(address)),                                              \
        if (ret != MAP_FAILED && !(flags & MAP_ANONYMOUS)) posix_on_mmap(&c, MAP_CALL(ret)))
#define ON_MUNMAP(...) FNB(__VA_ARGS__, mapped_before_munmap(address, bytes), (void)0)
#define ON_MREMAP(...)                                                                                       \
    FNV(__VA_ARGS__, mapped_before_mremap(address, bytes, new_address, new_bytes),                           \
        if (ret != MAP_FAILED) mapped_on_mremap(address, bytes, ret, new_bytes))
#define ON_MADVISE(...) FN(__VA_ARGS__, if (ret == 0) mapped_on_madvise(&c, address, advice))
#define ON_MSYNC(...)   FN(__VA_ARGS__, if (ret == 0) mapped_on_msync(&c, address))

#define ON_FSYNC(...)     FN(__VA_ARGS__, if (ret == 0) posix_on_sync(&c, fd, POSIX_FSYNCS))
#define ON_FDATASYNC(...) FN(__VA_ARGS__, if (ret == 0) posix_on_sync(&c, fd, POSIX_FDSYNCS))

#define RENAMED(from_dir, to_dir) posix_on_rename(&c, from_dir, from_path, to_dir, to_path)
#define ON_RENAME(...)            FN(__VA_ARGS__, if (ret == 0) RENAMED(AT_FDCWD, AT_FDCWD))
#define ON_RENAMEAT(...)          FN(__VA_ARGS__, if (ret == 0) RENAMED(from_dir, to_dir))
#define ON_RENAMEAT2(...)                                                                                    \
    FN(__VA_ARGS__, if (ret == 0 && uflags & RENAME_EXCHANGE) names_expect_links();                          \
       else if (ret == 0) RENAMED(from_dir, to_dir))

/* Darshan's record has no counter for the following kinds of calls; the private table `posix_extra` counts
 * them. */
#define PATH_COUNTED(dir, path, which)                                                                       \
    if (ret == 0)                                                                                            \
    extra_on_path(&c, dir, path, which)
#define FD_COUNTED(which)                                                                                    \
    if (ret == 0)                                                                                            \
    extra_on_fd(&c, fd, which)
#define ON_UNLINK(...) FN(__VA_ARGS__, PATH_COUNTED(AT_FDCWD, path, EXTRA_unlinks))
#define ON_UNLINKAT(...)                                                                                     \
    FN(__VA_ARGS__, PATH_COUNTED(dir, path, flags &AT_REMOVEDIR ? EXTRA_rmdirs : EXTRA_unlinks))
#define ON_RMDIR(...)     FN(__VA_ARGS__, PATH_COUNTED(AT_FDCWD, path, EXTRA_rmdirs))
#define ON_MKDIR(...)     FN(__VA_ARGS__, PATH_COUNTED(AT_FDCWD, path, EXTRA_mkdirs))
#define ON_MKDIRAT(...)   FN(__VA_ARGS__, PATH_COUNTED(dir, path, EXTRA_mkdirs))
#define ON_LINK(...)      FN(__VA_ARGS__, PATH_COUNTED(AT_FDCWD, from_path, EXTRA_links))
#define ON_LINKAT(...)    FN(__VA_ARGS__, PATH_COUNTED(from_dir, from_path, EXTRA_links))
#define ON_SYMLINK(...)   FN(__VA_ARGS__, if (ret == 0) names_expect_links())
#define ON_TRUNCATE(...)  FN(__VA_ARGS__, PATH_COUNTED(AT_FDCWD, path, EXTRA_truncates))
#define ON_FTRUNCATE(...) FN(__VA_ARGS__, FD_COUNTED(EXTRA_truncates))
#define ON_FALLOCATE(...) FN(__VA_ARGS__, FD_COUNTED(EXTRA_allocates))

#define BOTH_PLACES             (c.mark = extra_place(from_offset, ret), c.target = extra_place(to_offset, ret))
#define MOVED(to_offset, which) extra_on_move(&c, from, c.mark, to, to_offset, ret, which)
#define ON_SENDFILE(...)                                                                                     \
    FN(__VA_ARGS__, (c.mark = extra_place(from_offset, ret), MOVED(POSIX_AT_POSITION, EXTRA_sendfiles)))
#define ON_COPY_FILE_RANGE(...) FN(__VA_ARGS__, (BOTH_PLACES, MOVED(c.target, EXTRA_copies)))
#define ON_SPLICE(...)          FN(__VA_ARGS__, (BOTH_PLACES, MOVED(c.target, EXTRA_splices)))

/* The following kinds of calls are not recorded. */
#define ON_FGETXATTR(...)
#define ON_GETXATTR(...)
#define ON_IOCTL(...)
#define ON_STATFS(...)
#define ON_FSTATFS(...)

#endif
