/* Makes calls that fail because of unmapped addresses: on an invalid descriptor, for which the kernel mostly
 * does not read the address, and on a file. Prints the result and the error of each call. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <linux/openat2.h>
#define T(call)                                                                                              \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        long result = (long)(call);                                                                          \
        printf("%s: %ld, errno %d\n", #call, result, errno);                                                 \
    } while (0)

int main(int argc, char **argv)
{
    void *b = (void *)8;
    int f = open(argv[0], O_RDONLY);
    for (int i = 0; i < 2; i++) {
        int d = i ? f : -1;
        T(readv(d, b, 3));
        T(writev(d, b, 3));
        T(preadv(d, b, 3, 0));
        T(pwritev(d, b, 3, 0));
        T(preadv2(d, b, 3, 0, 0));
        T(pwritev2(d, b, 3, 0, 0));
        T(read(d, b, 8));
        T(write(d, b, 8));
        T(pread(d, b, 8, 0));
        T(pwrite(d, b, 8, 0));
        T(fstat(d, b));
        T(fcntl(d, F_GETLK, b));
        T(fcntl(d, F_SETLKW, b));
        T(fcntl(d, F_OFD_SETLK, b));
        T(sendfile(d, d, b, 8));
        T(copy_file_range(d, b, d, b, 8, 0));
        T(splice(d, b, d, b, 8, 0));
        T(fgetxattr(d, b, b, 8));
        T(fsetxattr(d, b, b, 8, 0));
        T(ioctl(d, 1, b));
        T(openat(d, b, O_RDONLY));
        T(unlinkat(d, b, 0));
        T(renameat(d, b, d, b));
        T(linkat(d, b, d, b, 0));
        T(mkdirat(d, b, 0));
        T(faccessat(d, b, 0, 0));
        T(futimens(d, b));
        T(statx(d, b, 0, 0, b));
        T(ftruncate(d, -1));
        T(syscall(SYS_openat2, d, "x", b, sizeof(struct open_how)));
        T(syscall(SYS_write, d, b, 8));
        T(posix_fallocate(d, -1, -1));
        T(fdopen(d, "q"));
        T(mmap(b, 8, 3, MAP_SHARED, d, 1));
        T(syscall(SYS_fcntl, d, F_SETLK, b));
        T(syscall(SYS_readv, d, b, 2));
        T(syscall(SYS_openat, d, b, 0));
    }
    T(open(b, O_RDONLY));
    T(creat(b, 0));
    T(stat(b, b));
    T(lstat(b, b));
    T(unlink(b));
    T(rename(b, b));
    T(link(b, b));
    T(symlink(b, b));
    T(symlinkat(b, AT_FDCWD, b));
    T(mkdir(b, 0));
    T(rmdir(b));
    T(truncate(b, 0));
    T(access(b, 0));
    T(chdir(b));
    T(getxattr(b, b, b, 1));
    T(statfs(b, b));
    T(readlink(b, b, 1));
    T(close(-1));
    T(close(1 << 30));
    T(dup2(-1, 5));
    T(dup3(f, f, 0));
    T(dup2(f, 1 << 30));
    T(lseek(-1, 0, 99));
    T(fsync(-1));
    T(fallocate(-1, 0, 0, -1));
    return argc - 1;
}
