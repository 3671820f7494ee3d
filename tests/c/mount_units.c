/* Prints the mounts of the kernel's table on standard input in the forms in which the profiler writes them to
 * its log: the JSON object, and the text of Darshan's job region. The arguments are the room for mounts, the
 * number of the mount that the program used, and the command line. */
#define _GNU_SOURCE
#include "../../profiler/src/memory/buffer.c"
#include "../../profiler/src/job/mounts.c"
#include "../../profiler/src/job/command.c"
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

static long used;

static bool is_used(const struct mount *mount) { return mount->number == used; }

int main(int count, char **argument)
{
    static char table[1 << 22], lines[1 << 16], text[COMMAND_BYTES];
    struct buffer out = {0};
    used = atol(argument[2]);
    fread(table, 1, sizeof table - 1, stdin);
    bool whole = mounts_keep(table, is_used, lines, (size_t)atol(argument[1]));
    mounts_json(&out, lines);
    fwrite(out.data, 1, out.used, stdout);
    command_text(text, argument[3], lines, "ost:/emulated", is_used);
    printf("\n%d\n%s", whole, text);
    return count != 4;
}
