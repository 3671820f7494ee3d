/* harm_jump HOW: a signal comes while the recorder asks a stream for its position by this program's own
 * ftello. The signal's handler
 *   jumps   out of ftello; then the program writes 5 bytes to after.dat
 *   ends    the program */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sigjmp_buf outside;
static int ends;

static void handler(int number)
{
    if (ends)
        _exit(3);
    siglongjmp(outside, number);
}

off_t ftello(FILE *stream)
{
    (void)stream;
    raise(SIGUSR1);
    return -1;
}

int main(int count, char **argument)
{
    ends = count > 1 && strcmp(argument[1], "ends") == 0;
    signal(SIGUSR1, handler);
    FILE *stream = fopen("before.dat", "a");
    if (sigsetjmp(outside, 1) == 0)
        fseek(stream, 0, SEEK_END);
    int fd = open("after.dat", O_WRONLY | O_CREAT, 0600);
    write(fd, "after", 5);
    close(fd);
    return 3;
}
