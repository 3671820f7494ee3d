#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "store.h"

/* State that the signal handler needs; a handler gets no arguments of its own. */
static struct {
    char **paths;
    volatile sig_atomic_t count;
} unfinished;

static void remove_all(int number)
{
    for (int i = 0; i < unfinished.count; i++)
        unlink(unfinished.paths[i]);
    signal(number, SIG_DFL);
    raise(number);
}

void abandon_add(const char *path)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    char **longer = realloc(unfinished.paths, (size_t)(unfinished.count + 1) * sizeof *longer);
    char *copy = strdup(path);
    if (longer != NULL)
        unfinished.paths = longer;
    if (longer == NULL || copy == NULL) {
        free(copy);
        return;
    }
    unfinished.paths[unfinished.count] = copy;
    unfinished.count++;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        signal(numbers[i], remove_all);
}

void abandon_none(void) { unfinished.count = 0; }
