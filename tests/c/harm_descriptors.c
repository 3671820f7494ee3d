/* harm_descriptors KIND: kinds of descriptors and of memory that few programs have. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harm_kinds.h"

enum { PAGE = 4096, MOST = 1024 };

/* Returns the reason why a call failed, or an empty text if it succeeded. */
static const char *reason(long result) { return result < 0 ? strerror(errno) : ""; }

static int made(const char *name)
{
    int fd = open(name, O_RDWR | O_CREAT, 0600);
    (void)!write(fd, "0123456789", 10);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static int after_closing(void)
{
    write(open("after", O_WRONLY | O_CREAT, 0600), "after", 5);
    printf("%d\n", open("f", O_RDWR));
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "echo x >g; exit 3", (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int close_from(void)
{
    made("f");
    closefrom(3);
    return after_closing();
}
static int close_by_range(void)
{
    made("f");
    syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_UNSHARE);
    return after_closing();
}
static int close_each(void)
{
    int wrong = 0, used = made("f");
    for (int fd = 3; fd < MOST; fd++)
        wrong += (close(fd) == 0) != (fd == used);
    printf("%d ", wrong);
    return after_closing();
}
static int close_on_exec(void)
{
    made("f");
    close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    return after_closing();
}

/* Checks that only the program's own descriptors are open. */
static int listed(void)
{
    for (int fd = 0; fd < MOST; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    return printf("%lu\n", (unsigned long)limit.rlim_cur) < 0;
}

static int memory_file(void)
{
    int fd = memfd_create("m", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    (void)!ftruncate(fd, PAGE);
    char *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    strcpy(map, "shared");
    munmap(map, PAGE);
    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW);
    long refused = write(fd, "x", 1);
    printf("%ld %s ", refused, reason(refused));
    char back[8] = "";
    return printf("%ld %s\n", (long)pread(fd, back, 7, 0), back) < 0;
}

static int executed_memory(void)
{
    int program = memfd_create("p", MFD_CLOEXEC), shell = open("/bin/sh", O_RDONLY);
    while (sendfile(program, shell, NULL, 1 << 20) > 0)
        ;
    char *const words[] = {"sh", "-c", "echo from memory; exit 6", NULL};
    pid_t child = fork();
    if (child == 0) {
        fexecve(program, words, (char *[]){NULL});
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int unnamed_file(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    if (fd < 0)
        return printf("%s\n", strerror(errno)) < 0;
    (void)!write(fd, "unnamed", 7);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return printf("%d\n", linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW)) < 0;
}

/* Checks that nothing but the program writes to its folder. */
static int print_events(int fd)
{
    char events[PAGE];
    long bytes = read(fd, events, sizeof events);
    for (long at = 0; at < bytes;) {
        struct inotify_event *event = (struct inotify_event *)(events + at);
        printf("%x:%s ", event->mask, event->len ? event->name : "");
        at += (long)sizeof *event + event->len;
    }
    return puts("") < 0;
}

static int watched(void)
{
    int fd = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(fd, ".", IN_ALL_EVENTS);
    close(made("f"));
    rename("f", "g");
    unlink("g");
    return print_events(fd);
}

/* The program watches its own file while it and a child use another one. */
static int watches_itself(void)
{
    int fd = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(fd, "/proc/self/exe", IN_ALL_EVENTS);
    close(made("f"));
    pid_t child = fork();
    if (child == 0) {
        close(made("g"));
        exit(0);
    }
    waitpid(child, NULL, 0);
    return print_events(fd);
}

static int events(void)
{
    int epoll = epoll_create1(0), event = eventfd(3, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const struct itimerspec once = {.it_value = {0, 5000000}};
    timerfd_settime(timer, 0, &once, NULL);
    epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &(struct epoll_event){.events = EPOLLIN, .data.fd = timer});
    struct epoll_event ready = {0};
    int count = epoll_wait(epoll, &ready, 1, 5000);
    uint64_t value[2] = {0};
    (void)!read(event, &value[0], 8), (void)!read(timer, &value[1], 8);
    return printf("%d %d %d %d\n", count, ready.data.fd == timer, (int)value[0], (int)value[1]) < 0;
}

static void *serve(void *faults)
{
    struct uffd_msg message;
    static char page[PAGE] = "served";
    int fd = *(int *)faults;
    while (read(fd, &message, sizeof message) == sizeof message) {
        struct uffdio_copy copy = {.src = (unsigned long)page, .len = PAGE};
        copy.dst = message.arg.pagefault.address & -(unsigned long)PAGE;
        ioctl(fd, UFFDIO_COPY, &copy);
    }
    return NULL;
}
static int faults(void)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), file = made("f");
    struct uffdio_api api = {.api = UFFD_API};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
        return puts("none") < 0;
    char *area = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {.range = {(unsigned long)area, 4 * PAGE},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    ioctl(fd, UFFDIO_REGISTER, &range);
    pthread_t server;
    pthread_create(&server, NULL, serve, &fd);
    printf("%s %ld ", area, (long)write(file, area + PAGE, 6));
    return printf("%ld %c\n", (long)pread(file, area + 2 * PAGE, 3, 1), area[2 * PAGE + 3]) < 0;
}

static volatile sig_atomic_t signalled;
static void completed(union sigval value) { signalled = value.sival_int; }
static int posix_aio(void)
{
    static char text[4][PAGE];
    int fd = made("f");
    struct aiocb request[4] = {0}, *list[4];
    for (int i = 0; i < 4; i++) {
        memset(text[i], 'a' + i, PAGE);
        request[i] = (struct aiocb){.aio_fildes = fd, .aio_buf = text[i], .aio_nbytes = PAGE};
        request[i].aio_offset = i * PAGE, request[i].aio_lio_opcode = LIO_WRITE;
        list[i] = &request[i];
    }
    request[3].aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 9};
    request[3].aio_sigevent.sigev_notify_function = completed;
    printf("%d ", lio_listio(LIO_WAIT, list, 3, NULL));
    aio_write(&request[3]);
    while (aio_error(&request[3]) == EINPROGRESS || !signalled)
        aio_suspend((const struct aiocb *const *)&list[3], 1, &(struct timespec){0, 1000000});
    for (int i = 0; i < 4; i++)
        printf("%ld ", (long)aio_return(&request[i]));
    request[0].aio_fildes = 99;
    aio_read(&request[0]);
    while (aio_error(&request[0]) == EINPROGRESS)
        ;
    return printf("%s\n", strerror(aio_error(&request[0]))) < 0;
}

static int moved_in_kernel(void)
{
    int from = made("f"), to = open("g", O_RDWR | O_CREAT, 0600), ends[2];
    (void)!pipe(ends);
    printf("%ld ", (long)splice(from, NULL, ends[1], NULL, 4, 0));
    printf("%ld ", (long)splice(ends[0], NULL, to, NULL, 4, 0));
    printf("%ld ", (long)sendfile(to, from, NULL, 3));
    printf("%ld ", (long)copy_file_range(from, NULL, to, &(off_t){20}, 3, 0));
    struct iovec vector = {"vector", 6};
    printf("%ld ", (long)vmsplice(ends[1], &vector, 1, 0));
    return printf("%ld\n", (long)splice(ends[0], NULL, to, &(off_t){100}, 6, 0)) < 0;
}

static int handed_over(void)
{
    int pair[2], fd = made("f");
    char control[CMSG_SPACE(sizeof fd)] = {0}, byte = 'x';
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control};
    message.msg_controllen = sizeof control;
    socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    *CMSG_FIRSTHDR(&message) = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof fd);
    sendmsg(pair[0], &message, 0);
    close(fd);
    recvmsg(pair[1], &message, 0);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    char text[6] = "";
    printf("%ld %s %ld ", (long)read(fd, text, 5), text, (long)write(fd, "new", 3));
    return printf("%ld\n", (long)lseek(fd, 0, SEEK_CUR)) < 0;
}

static int streams(void)
{
    char *memory = NULL, text[32] = "";
    size_t bytes = 0;
    FILE *to_memory = open_memstream(&memory, &bytes), *shell = popen("cat >piped; exit 5", "w");
    fputs("remembered", to_memory), fputs("piped", shell);
    fclose(to_memory);
    printf("%s %d ", memory, pclose(shell) >> 8);
    FILE *from = fmemopen(memory, bytes, "r");
    printf("%s ", fgets(text, 5, from));
    FILE *file = fopen("f", "w+");
    setvbuf(file, NULL, _IOLBF, 16);
    fputs("held by both\nhalf", file);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
    fcloseall();
    return 4;
}

static int other_output(void)
{
    puts("to the caller");
    fflush(stdout);
    int kept = dup(1), fd = open("f", O_WRONLY | O_CREAT, 0600);
    dup2(fd, 1), close(fd);
    puts("to the file");
    (void)!system("echo from a shell");
    fflush(stdout);
    dup2(kept, 1);
    puts("back");
    (void)!freopen("g", "w", stdout);
    puts("reopened");
    return 0;
}

static const struct harm_kind KINDS[] = {{"close_from", close_from},
                                         {"close_by_range", close_by_range},
                                         {"close_each", close_each},
                                         {"close_on_exec", close_on_exec},
                                         {"listed", listed},
                                         {"memory_file", memory_file},
                                         {"executed_memory", executed_memory},
                                         {"unnamed_file", unnamed_file},
                                         {"watched", watched},
                                         {"watches_itself", watches_itself},
                                         {"events", events},
                                         {"faults", faults},
                                         {"posix_aio", posix_aio},
                                         {"moved_in_kernel", moved_in_kernel},
                                         {"handed_over", handed_over},
                                         {"streams", streams},
                                         {"other_output", other_output}};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOFBF, PAGE);
    return argc < 2 ? 99 : run_kind(KINDS, sizeof KINDS / sizeof *KINDS, argv[1]);
}
