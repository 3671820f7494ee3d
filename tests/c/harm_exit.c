/* A timer's handler ends the program while it allocates and writes in a loop. The timer starts behind the
 * first write, because a busy machine may run the handler before any other line. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { TURNS = 64 };

static void ends(int number)
{
    (void)number;
    _exit(3);
}

int main(int count, char **words)
{
    const struct itimerval soon = {{0, 0}, {0, 3000 + 37 * (count > 1 ? atoi(words[1]) : 0)}};
    static void *blocks[TURNS];
    int fd = open("data", O_WRONLY | O_CREAT, 0600);
    if (pwrite(fd, "text", 4, 0) != 4)
        return 1;
    signal(SIGALRM, ends);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (unsigned turn = 0;; turn = (turn + 1) % TURNS) {
        free(blocks[turn]);
        blocks[turn] = malloc(turn + 1);
        if (pwrite(fd, "text", 4, turn) != 4)
            return 1;
    }
}
