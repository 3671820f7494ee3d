/* The command `iolens`. Python ignores SIGPIPE and SIGXFSZ from its start on, so a program in Python cannot
 * tell whether its caller ignored them, and cannot hand that on to the programs that it starts. This program
 * notes in IOLENS_CALLER what Python or fork would change, and then becomes Python in the same process.
 *
 * IOLENS_CALLER is `PID:IGNORED:DEATH:REAPER`: this process, the mask of ignored signals in hexadecimal as in
 * /proc/PID/status, the signal at the parent's death, and 1 if the caller adopts orphans
 * (report/iolens/lab/run/inherited.py reads it). */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { FIRST_WORDS = 4 };

/* Returns the mask of the signals that this process ignores. */
static unsigned long long ignored_signals(void)
{
    unsigned long long mask = 0;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            mask |= 1ULL << (number - 1);
    }
    return mask;
}

static int note_state(void)
{
    char text[128];
    int death = 0, reaper = 0;
    prctl(PR_GET_PDEATHSIG, &death, 0, 0, 0);
    prctl(PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0);
    snprintf(text, sizeof text, "%ld:%llx:%d:%d", (long)getpid(), ignored_signals(), death, reaper);
    return setenv("IOLENS_CALLER", text, 1);
}

/* Writes the path of a file relative to the folder of this program; returns false if there is no such path.
 */
static int beside(char path[PATH_MAX], const char *name)
{
    ssize_t bytes = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    char *slash = strrchr(path, '/');
    size_t room = slash ? (size_t)(path + PATH_MAX - slash - 1) : 0;
    return slash && (size_t)snprintf(slash + 1, room, "%s", name) < room;
}

/* Becomes Python with the package in the environment of `make install`. Isolated (-I), neither the current
 * folder nor PYTHONPATH can put a module of that name in the place of the installed one. */
static void become_installed(int count, char **words)
{
    char path[PATH_MAX];
    char **all = calloc((size_t)count + FIRST_WORDS, sizeof *all);
    if (!all || !beside(path, "../lib/iolens/venv/bin/python"))
        return;
    char *const first[FIRST_WORDS] = {path, "-I", "-m", "iolens.cli.main"};
    memcpy(all, first, sizeof first);
    memcpy(all + FIRST_WORDS, words + 1, (size_t)count * sizeof *all);
    execv(path, all);
}

int main(int count, char **words)
{
    char path[PATH_MAX];
    if (note_state() != 0)
        fprintf(stderr,
                "iolens: there is no memory to note the caller's signals, so programs get the usual ones\n");
    if (beside(path, "iolens-python"))
        execv(path, words);
    if (errno == ENOENT && count > 0)
        become_installed(count, words);
    fprintf(stderr,
            "iolens: its Python program, iolens-python beside this command, cannot be started: %s; install "
            "iolens again\n",
            strerror(errno));
    return 1;
}
