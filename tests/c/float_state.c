/* Witness of the floating-point environment: makes calls of each kind and checks before and after each that
 * no flag was raised, and that rounding, traps and the handling of denormal numbers are as the program set
 * them. Arguments: the way (plain, trap, up, zero) and the kinds of calls. Prints one line for each
 * difference. */
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

static unsigned wanted;
static int wrong;

static void check(const char *where)
{
    unsigned now = _mm_getcsr();
    unsigned short x87;
    __asm__ volatile("fnstsw %0" : "=m"(x87));
    if (now != wanted || x87 & FE_ALL_EXCEPT) {
        dprintf(2, "%s: mxcsr %x instead of %x, x87 status %x\n", where, now, wanted, x87);
        wrong = 1;
        _mm_setcsr(wanted);
        __asm__ volatile("fnclex");
    }
}

#define DO(...)                                                                                              \
    do {                                                                                                     \
        check("before " #__VA_ARGS__);                                                                       \
        __VA_ARGS__;                                                                                         \
        check(#__VA_ARGS__);                                                                                 \
    } while (0)

static char data[1 << 16];

static bool in_child;

static void aio_calls(int fd)
{
    struct aiocb aio = {.aio_fildes = fd, .aio_buf = data, .aio_nbytes = 1000};
    const struct aiocb *list[] = {&aio};
    DO(aio_read(&aio));
    DO(aio_suspend(list, 1, NULL));
    DO(while (aio_error(&aio) == EINPROGRESS) usleep(100));
    DO(aio_return(&aio));
}

static void posix_calls(void)
{
    struct stat info;
    struct iovec vector[2] = {{data, 100}, {data + 200, 4000}};
    int fd, copy, out;
    DO(fd = open("a.dat", O_CREAT | O_RDWR | O_TRUNC, 0644));
    for (int i = 0; i < 40; i++)
        DO(write(fd, data, 1000 + 37 * i));
    DO(pwrite(fd, data, 5000, 123457));
    DO(pread(fd, data, 5000, 1 << 30));
    DO(lseek(fd, 0, SEEK_SET));
    DO(read(fd, data, 60000));
    DO(readv(fd, vector, 2));
    DO(writev(fd, vector, 2));
    DO(fstat(fd, &info));
    DO(stat("a.dat", &info));
    DO(stat("missing", &info));
    DO(open("missing/a", O_RDONLY));
    DO(read(-1, data, 10));
    DO(fsync(fd));
    DO(fdatasync(fd));
    DO(ftruncate(fd, 70000));
    DO(posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL));
    DO(posix_fallocate(fd, 0, 80000));
    DO(copy = dup(fd));
    DO(out = open("b.dat", O_CREAT | O_RDWR | O_APPEND, 0644));
    DO(write(out, data, 10));
    DO(sendfile(out, copy, NULL, 1000));
    DO(copy_file_range(fd, NULL, out, NULL, 1000, 0));
    struct flock lock = {.l_type = F_WRLCK};
    DO(fcntl(fd, F_SETLKW, &lock));
    void *map;
    DO(map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    ((char *)map)[5] = 1;
    DO(msync(map, 65536, MS_SYNC));
    DO(munmap(map, 65536));
    if (!in_child) /* The C library's threads for these calls are missing there. */
        aio_calls(fd);
    DO(rename("b.dat", "c.dat"));
    DO(unlink("c.dat"));
    DO(mkdir("folder", 0755));
    DO(rmdir("folder"));
    DIR *folder;
    DO(folder = opendir("."));
    DO(closedir(folder));
    usleep(250000);
    DO(pwrite(fd, data, 5000, 0));
    DO(close(copy));
    DO(close(out));
    DO(close(fd));
}

static void stdio_calls(void)
{
    FILE *file;
    char line[100];
    DO(file = fopen("s.txt", "w+"));
    for (int i = 0; i < 10; i++)
        DO(fputs("some words\n", file));
    DO(fwrite(data, 100, 100, file));
    DO(fflush(file));
    DO(rewind(file));
    DO(fgets(line, sizeof line, file));
    DO(fread(data, 10, 10, file));
    DO(fgetc(file));
    DO(fseek(file, 3, SEEK_SET));
    usleep(120000);
    DO(fputc('x', file));
    DO(fclose(file));
}

static void other_calls(void)
{
    int pair[2];
    struct timeval soon = {0, 1000};
    fd_set none;
    FD_ZERO(&none);
    DO(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    DO(write(pair[0], data, 100));
    DO(read(pair[1], data, 100));
    DO(poll(NULL, 0, 5));
    DO(select(0, NULL, NULL, NULL, &soon));
    DO(usleep(2000));
    DO(nanosleep(&(struct timespec){0, 2000000}, NULL));
    DO(close(pair[0]));
    DO(close(pair[1]));
    void *block[20];
    for (int i = 0; i < 20; i++)
        DO(block[i] = malloc(100000 * i + 1));
    for (int i = 0; i < 20; i++)
        DO(free(block[i]));
}

static void *thread(void *unused)
{
    check("the start of a thread");
    DO(write(1, "", 0));
    int fd;
    DO(fd = open("t.dat", O_CREAT | O_RDWR, 0644));
    DO(pwrite(fd, data, 5000, 0));
    DO(close(fd));
    return unused;
}

static void handler(int number)
{
    (void)number;
    unsigned before = _mm_getcsr();
    int fd = open("h.dat", O_CREAT | O_RDWR, 0644);
    pwrite(fd, data, 5000, 0);
    usleep(110000);
    pwrite(fd, data, 7000, 0);
    close(fd);
    if (_mm_getcsr() != before) {
        dprintf(2, "handler: mxcsr %x instead of %x\n", _mm_getcsr(), before);
        wrong = 1;
    }
}

static void spin(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 300000000);
}

static void at_end(void)
{
    check("an exit handler");
    posix_calls();
    if (wrong)
        _exit(1);
}

__attribute__((destructor(101))) static void last(void)
{
    check("the last destructor");
    if (wrong)
        _exit(1);
}

int main(int count, char **argument)
{
    static const struct {
        const char *name;
        unsigned set;
    } ways[] = {{"plain", 0x1f80}, {"trap", 0x0000}, {"up", 0x5f80}, {"down", 0x3f80}, {"zero", 0xffc0}};
    wanted = 0x1f80;
    check("the start of main");
    for (int i = 0; i < 5; i++)
        if (strcmp(argument[1], ways[i].name) == 0)
            wanted = ways[i].set;
    _mm_setcsr(wanted);
    atexit(at_end);
    posix_calls();
    stdio_calls();
    other_calls();
    pthread_t other;
    DO(pthread_create(&other, NULL, thread, NULL));
    DO(pthread_join(other, NULL));
    signal(SIGUSR1, handler);
    DO(raise(SIGUSR1));
    DO(spin());
    pid_t child;
    DO(child = fork());
    if (child == 0) {
        check("a child");
        in_child = true;
        posix_calls();
        exit(wrong);
    }
    int status = 0;
    DO(waitpid(child, &status, 0));
    wrong |= status != 0;
    return wrong;
}
