/* Waits for results of a helper: looks for its file again and again, or reads from a pipe. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    struct stat status;
    for (int task = 0; task < 6; task++) {
        char name[32], byte = 'x';
        int ends[2];
        sprintf(name, "ready%d", task);
        if (pipe(ends))
            return 1;
        pid_t helper = fork();
        if (!helper) {
            usleep(40000);
            if (!cured)
                close(open(name, O_CREAT | O_WRONLY, 0644));
            if (write(ends[1], &byte, 1) != 1)
                _exit(1);
            _exit(0);
        }
        if (cured) {
            if (read(ends[0], &byte, 1) != 1)
                return 1;
        } else {
            while (stat(name, &status))
                usleep(500000);
        }
        waitpid(helper, NULL, 0);
        close(ends[0]);
        close(ends[1]);
    }
    puts("tasks 6");
    return 0;
}
