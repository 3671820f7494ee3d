/* Transfers bytes on some files and stops itself; when it is continued, it transfers more on these and on new
 * files, and stops itself again. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { TRANSFERS = 40 };

static void work(int files)
{
    char path[64], bytes[256] = {0};
    for (int number = 0; number < files; number++) {
        snprintf(path, sizeof path, "file%d", number);
        int fd = open(path, O_CREAT | O_RDWR, 0644);
        for (int i = 0; i < TRANSFERS; i++) {
            pwrite(fd, bytes, 1 + (size_t)((number + i) % 200), 97 * i);
            pread(fd, bytes, 10, 50 * i);
        }
        close(fd);
    }
}

int main(void)
{
    work(10);
    raise(SIGSTOP);
    work(20);
    raise(SIGSTOP);
}
