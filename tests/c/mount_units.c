/* Prints the options of the mount table on standard input in the form in which the profiler writes them to
 * its log. */
#define _GNU_SOURCE
#include "../../profiler/src/memory/buffer.c"
#include "../../profiler/src/job/mount_options.c"
#include "../../profiler/src/system/hash.c"
#include "../../profiler/src/system/system_call.c"
#include "posix_expect.h"

void *pages_alloc(size_t bytes) { return calloc(1, bytes); }

void *pages_move(void *pages, size_t bytes, size_t more)
{
    void *moved = calloc(1, more);
    return moved ? memcpy(moved, pages, bytes) : MAP_FAILED;
}

void pages_free(void *pages, size_t bytes)
{
    (void)bytes;
    free(pages);
}

int main(int count, char **argument)
{
    static char table[65536];
    struct buffer out = {0};
    fread(table, 1, sizeof table - 1, stdin);
    mount_options(&out, table, (size_t)atol(argument[1]));
    fwrite(out.data, 1, out.used, stdout);
    return count != 2;
}
