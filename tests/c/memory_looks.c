/* Writes to a file for some seconds, replaces the contents of numa_maps meanwhile, and ends as the first
 * argument says: "return" or "kill". */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REPLACES 1.5
#define ENDS     3.2

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void write_until(double end)
{
    int fd = open("data", O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (; now() < end; usleep(20000))
        if (write(fd, "text", 4) != 4)
            abort();
    close(fd);
}

int main(int count, char **words)
{
    double begin = now();
    write_until(begin + REPLACES);
    if (system("cat later >numa_maps"))
        return 1;
    write_until(begin + ENDS);
    if (count > 1 && strcmp(words[1], "kill") == 0)
        kill(getpid(), SIGKILL);
    return 0;
}
