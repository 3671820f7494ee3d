#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

static const char NEW[] = "comm_select: new communicator: ";
static const char CHOSEN[] = "comm_select: selecting";

static int descending(const void *a, const void *b)
{
    return ((const Component *)b)->priority - ((const Component *)a)->priority;
}

/* Returns a copy of the line that begins at `text`, without its end; NULL after the last line. */
static char *line_at(const char *text) { return *text != '\0' ? strndup(text, strcspn(text, "\n")) : NULL; }

static const char *behind(const char *text)
{
    const char *end = text + strcspn(text, "\n");
    return *end == '\n' ? end + 1 : end;
}

Selection selection_parse(const char *words)
{
    Selection selection = {0};
    bool world = false;
    for (char *line; (line = line_at(words)) != NULL; words = behind(words)) {
        const char *about = strstr(line, NEW), *choice = strstr(line, CHOSEN);
        Component *next = &selection.list[selection.count];
        char state[16];
        if (about != NULL)
            world = strncmp(about + strlen(NEW), "MPI_COMM_WORLD", strlen("MPI_COMM_WORLD")) == 0;
        else if (world && choice != NULL && selection.count < COMPONENTS_MAX &&
                 sscanf(choice + strlen(CHOSEN), " %31[^,], priority %d, %15s", next->name, &next->priority,
                        state) == 3)
            selection.count += strcmp(state, "Enabled") == 0;
        free(line);
    }
    qsort(selection.list, (size_t)selection.count, sizeof(Component), descending);
    return selection;
}

/* Returns true for a line that Open MPI prints only because this program raised its verbosity. */
static bool is_own_account(const char *line)
{
    static const char *const MARKS[] = {"coll:", "disqualifying", "mca: base: c", "coll_"};
    if (line[0] != '[')
        return false;
    for (size_t i = 0; i < sizeof MARKS / sizeof MARKS[0]; i++)
        if (strstr(line, MARKS[i]) != NULL)
            return true;
    return false;
}

/* The capture of standard error that is under way. A process has one standard error, so there is only one
 * capture. */
static struct {
    int real, aside; /* `real`: a duplicate of the real standard error. `aside`: the file that takes its
                      * place. */
    bool on;
} catch;

static char *everything(int file)
{
    struct stat about;
    size_t size = fstat(file, &about) == 0 ? (size_t)about.st_size : 0;
    char *text = calloc(size + 1, 1);
    if (text != NULL && pread(file, text, size, 0) < 0)
        text[0] = '\0';
    return text;
}

/* Restores standard error; returns the captured text, which the caller frees. */
static char *release(void)
{
    if (!catch.on)
        return NULL;
    catch.on = false;
    fflush(stderr);
    dup2(catch.real, STDERR_FILENO);
    close(catch.real);
    char *said = everything(catch.aside);
    close(catch.aside);
    for (const char *at = said; at != NULL && *at != '\0'; at = behind(at)) {
        char *line = line_at(at);
        if (line != NULL && !is_own_account(line))
            fprintf(stderr, "%s\n", line);
        free(line);
    }
    return said;
}

static void release_at_exit(void) { free(release()); }

void selection_begin(void)
{
    static bool registered;
    setenv("OMPI_MCA_coll_base_verbose", "9", 0);
    catch.aside = memfd_create("standard-error", MFD_CLOEXEC);
    catch.real = catch.aside >= 0 ? dup(STDERR_FILENO) : -1;
    if (catch.real < 0)
        return;
    catch.on = true;
    dup2(catch.aside, STDERR_FILENO);
    if (!registered)
        registered = atexit(release_at_exit) == 0;
}

Selection selection_end(void)
{
    char *said = release();
    Selection selection = said != NULL ? selection_parse(said) : (Selection){0};
    free(said);
    return selection;
}
