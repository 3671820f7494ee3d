/* Installs a handler by the function that WAY names (none: no handler) and raises its signal. The handler
 * makes calls that are allowed in a handler. Writes `begin` before the signal and `end` after it to standard
 * error. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

__sighandler_t bsd_signal(int number, __sighandler_t handler);
int __sigaction(int number, const struct sigaction *action, struct sigaction *before);

static volatile sig_atomic_t handled;

static void handler(int number)
{
    char byte;
    handled = number;
    if (pread(-1, &byte, 1, 0) >= 0 || lseek(-1, 0, SEEK_SET) >= 0 || fsync(-1) >= 0 ||
        poll(NULL, 0, 0) != 0 || connect(-1, NULL, 0) == 0)
        handled = 0;
}

int main(int count, char **words)
{
    const struct sigaction action = {.sa_handler = handler}, ignored = {.sa_handler = SIG_IGN};
    const char *way = count > 1 ? words[1] : "";
    sigaction(SIGUSR1, &ignored, NULL);
    if (strcmp(way, "sigaction") == 0)
        sigaction(SIGUSR1, &action, NULL);
    else if (strcmp(way, "__sigaction") == 0)
        __sigaction(SIGUSR1, &action, NULL);
    else if (strcmp(way, "signal") == 0)
        signal(SIGUSR1, handler);
    else if (strcmp(way, "bsd_signal") == 0)
        bsd_signal(SIGUSR1, handler);
    else if (strcmp(way, "ssignal") == 0)
        ssignal(SIGUSR1, handler);
    else if (strcmp(way, "sysv_signal") == 0)
        sysv_signal(SIGUSR1, handler);
    else if (strcmp(way, "__sysv_signal") == 0)
        __sysv_signal(SIGUSR1, handler);
    else if (strcmp(way, "sigset") == 0)
        sigset(SIGUSR1, handler);
    else if (strcmp(way, "none") != 0)
        return 2;
    if (write(2, "begin\n", 6) != 6)
        return 3;
    raise(SIGUSR1);
    if (write(2, "end\n", 4) != 4)
        return 3;
    return handled == (strcmp(way, "none") == 0 ? 0 : SIGUSR1) ? 0 : 1;
}
