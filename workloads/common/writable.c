#include "writable.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void writable_folder(const char *option, const char *folder, Trouble *trouble)
{
    if (access(folder, W_OK | X_OK) != 0)
        trouble_note(trouble, "--%s: cannot write into %s: %s", option, folder, strerror(errno));
}

void writable_file(const char *option, const char *file, Trouble *trouble)
{
    if (file == NULL || strcmp(file, "-") == 0)
        return;
    char *copy = strdup(file); /* A copy, because dirname changes its argument. */
    writable_folder(option, dirname(copy), trouble);
    free(copy);
}
