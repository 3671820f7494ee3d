/* Prints the number of pages of a buffer's memory that are in use after code asked for more room than it
 * used. */
#define _GNU_SOURCE
#include "../../profiler/src/memory/buffer.c"
#include "posix_expect.h"

static char *mapped;
static size_t mapped_bytes;

void *pages_alloc(size_t bytes)
{
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped_bytes = bytes;
    return mapped == MAP_FAILED ? NULL : mapped;
}

void pages_free(void *pages, size_t bytes) { munmap(pages, bytes); }

void *pages_move(void *pages, size_t bytes, size_t more)
{
    return mremap(pages, bytes, more, MREMAP_MAYMOVE);
}

int main(void)
{
    struct buffer buffer = {0}, next = {0};
    char *room = buffer_room(&buffer, FIRST_SIZE);
    unsigned char in_use[AT_ONCE * FIRST_SIZE / 4096] = {0};
    int pages = 0;
    MUST(room && buffer.used == 0);
    memcpy(room, "a text", 6);
    MUST(buffer_add(&buffer, 6) == room && buffer.used == 6);
    buffer_free(&buffer);
    MUST(mapped_bytes <= sizeof in_use * 4096 && mincore(mapped, mapped_bytes, in_use) == 0);
    for (size_t i = 0; i < sizeof in_use; i++)
        pages += in_use[i] & 1;
    room = buffer_add(&next, 8); /* The second buffer must get the pages that the first one returned, filled
                                  * with zeros. */
    MUST(room == mapped && memcmp(room, "\0\0\0\0\0\0\0", 8) == 0);
    printf("%d\n", pages);
    return 0;
}
