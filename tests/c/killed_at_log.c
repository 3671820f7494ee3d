/* killed_at_log: writes a file and ends. The process is killed when the recorder first writes to the log, or,
 * with an argument, as soon as it has created the log's file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "trapped_calls.h"

static long answer(long number, const long values[6])
{
    if (number == SYS_pwrite64)
        kill(getpid(), SIGKILL);
    long result = make_call(number, values);
    if (number == SYS_openat && result >= 0 && strstr((const char *)values[1], "iolens-partial"))
        kill(getpid(), SIGKILL);
    return result;
}

int main(int count, char **words)
{
    int number = count > 1 ? SYS_openat : SYS_pwrite64;
    (void)words;
    trap_calls(number, number, answer);
    int fd = open("written", O_CREAT | O_WRONLY, 0600);
    return fd < 0 || write(fd, "x", 1) != 1;
}
