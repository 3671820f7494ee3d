/* killed_at_log: writes a file and ends. The process is killed when the recorder first writes to the log. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>

#include "trapped_calls.h"

static long answer(long number, const long values[6])
{
    if (number == SYS_pwrite64)
        kill(getpid(), SIGKILL);
    return make_call(number, values);
}

int main(void)
{
    trap_calls(SYS_pwrite64, SYS_pwrite64, answer);
    int fd = open("written", O_CREAT | O_WRONLY, 0600);
    return fd < 0 || write(fd, "x", 1) != 1;
}
