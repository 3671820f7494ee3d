#include "numa_maps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "system_call.h"

enum { TEXT_BYTES = 4096, WORD_BYTES = 32, KIB = 1024 };

static const char PAGE_KIB[] = "kernelpagesize_kB=";

/* State while the file is read, in pieces, because it may be large. A line has words for the number of a
 * mapping's pages on each node, and then a word for the size of the pages. These words fit into `word`;
 * longer ones are cut. */
static struct {
    char text[TEXT_BYTES], word[WORD_BYTES];
    size_t length;
    struct {
        unsigned long node;
        int64_t pages;
    } counts[MEMORY_NODES];
    size_t counted;
    int64_t page_bytes;
} iolens_numa_line;

static void end_word(void)
{
    char *word = iolens_numa_line.word, *end;
    word[iolens_numa_line.length] = '\0';
    iolens_numa_line.length = 0;
    if (strncmp(word, PAGE_KIB, strlen(PAGE_KIB)) == 0)
        iolens_numa_line.page_bytes = strtoll(word + strlen(PAGE_KIB), NULL, 10) * KIB;
    if (*word != 'N' || !isdigit((unsigned char)word[1]))
        return;
    unsigned long node = strtoul(word + 1, &end, 10);
    if (*end != '=' || node >= MEMORY_NODES || iolens_numa_line.counted == MEMORY_NODES)
        return;
    iolens_numa_line.counts[iolens_numa_line.counted].node = node;
    iolens_numa_line.counts[iolens_numa_line.counted++].pages = strtoll(end + 1, NULL, 10);
}

static void end_line(int64_t bytes[MEMORY_NODES])
{
    for (size_t i = 0; i < iolens_numa_line.counted; i++)
        bytes[iolens_numa_line.counts[i].node] +=
            iolens_numa_line.counts[i].pages * iolens_numa_line.page_bytes;
    iolens_numa_line.counted = 0;
    iolens_numa_line.page_bytes = 0;
}

static void take(char letter, int64_t bytes[MEMORY_NODES])
{
    if (letter == ' ' || letter == '\n')
        end_word();
    else if (iolens_numa_line.length < WORD_BYTES - 1)
        iolens_numa_line.word[iolens_numa_line.length++] = letter;
    if (letter == '\n')
        end_line(bytes);
}

bool numa_maps_read(const char *path, int64_t bytes[MEMORY_NODES])
{
    ssize_t got;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    memset(bytes, 0, MEMORY_NODES * sizeof *bytes);
    iolens_numa_line.length = iolens_numa_line.counted = 0;
    while ((got = system_call(SYS_read, fd, iolens_numa_line.text, TEXT_BYTES)) > 0)
        for (ssize_t i = 0; i < got; i++)
            take(iolens_numa_line.text[i], bytes);
    system_call(SYS_close, fd);
    return got == 0;
}
