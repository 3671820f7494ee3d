/* Uses a substitute for cuFile in one of five ways, and must end like a program without it. `linked`: the
 * program is linked with the library. `late`: loads the library and opens a file with O_DIRECT, as a user of
 * cuFile does. `quick`: the same, and ends by _exit. `closed`: the same, and unloads the library. `unseen`:
 * loads the library, and opens no file. Usage: gpu_storage WAY LIBRARY */
#include "posix_expect.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

static void complain(int number)
{
    (void)number;
    (void)!write(1, "a signal came\n", 14);
}

/* Reports a child process that is left. Exit handlers run in reverse order: this one runs after those of
 * libraries that were loaded later, and so after the profiler has asked the GPU storage library in a child.
 */
static void look_for_children(void)
{
    if (waitpid(-1, NULL, __WALL) != -1 || errno != ECHILD)
        (void)!write(1, "a child is left\n", 16);
}

int main(int count, char **words)
{
    MUST(count == 3);
    for (int number = 1; number < SIGRTMIN; number++)
        signal(number, complain);
    MUST(atexit(look_for_children) == 0);
    if (strcmp(words[1], "linked") == 0)
        return 7;
    void *library = dlopen(words[2], RTLD_NOW);
    MUST(library != NULL);
    if (strcmp(words[1], "unseen") == 0)
        return 7;
    int fd = open("direct.dat", O_RDWR | O_CREAT | O_DIRECT, 0600);
    MUST(fd >= 0 || errno == EINVAL); /* A file system may not support O_DIRECT. */
    if (strcmp(words[1], "quick") == 0)
        _exit(7);
    if (strcmp(words[1], "closed") == 0)
        MUST(dlclose(library) == 0);
    return 7;
}
