/* Four processes add lines to one file under one lock that each holds while it works, or each has its own
 * file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    for (int worker = 0; worker < 4; worker++) {
        if (fork())
            continue;
        char name[32], line[64];
        sprintf(name, cured ? "result.%d" : "result", worker);
        int file = open(name, O_CREAT | O_RDWR | O_APPEND, 0644);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, unlock = {.l_type = F_UNLCK};
        for (int i = 0; i < 250; i++) {
            if (!cured && fcntl(file, F_SETLKW, &lock))
                _exit(1);
            usleep(3000); /* Waits for the answer of an instrument. */
            int length = sprintf(line, "worker %d item %04d\n", worker, i);
            if (write(file, line, length) != length)
                _exit(1);
            if (!cured)
                fcntl(file, F_SETLK, &unlock);
        }
        _exit(0);
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed |= status;
    puts("lines 1000");
    return failed != 0;
}
