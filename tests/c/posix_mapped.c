/* Maps a file and touches it in one of several patterns, and prints the bytes that /proc/self/io counted:
 * "MAPPED read written". Usage: posix_mapped PATTERN FILE */
#include "posix_expect.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { PAGE = 4096, TOUCHES = 64, STEP = 37 };

static volatile char sum;

static long counted(const char *name)
{
    char line[128];
    long value = -1;
    FILE *io = fopen("/proc/self/io", "r");
    size_t length = strlen(name);
    MUST(io != NULL);
    while (fgets(line, sizeof line, io))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            value = atol(line + length + 1);
    fclose(io);
    return value;
}

static void touch(const char *pattern, char *map, size_t pages)
{
    size_t page = 0;
    if (strcmp(pattern, "random") == 0)
        MUST(posix_madvise(map, pages * PAGE, POSIX_MADV_NORMAL) == 0 &&
             madvise(map, pages * PAGE, MADV_RANDOM) == 0);
    if (strcmp(pattern, "random") == 0 || strcmp(pattern, "scattered") == 0)
        for (int i = 0; i < TOUCHES; i++)
            sum += map[(page = (page + pages / 3 + STEP) % pages) * PAGE];
    else if (strcmp(pattern, "strided") == 0)
        for (page = 0; page < pages; page += pages / TOUCHES)
            sum += map[page * PAGE];
    else if (strcmp(pattern, "written") == 0)
        for (page = 0; page < pages; page++)
            map[page * PAGE] = (char)page;
    else
        for (page = 0; page < pages; page++)
            sum += map[page * PAGE];
}

int main(int count, char **words)
{
    MUST(count == 3);
    int writes = strcmp(words[1], "written") == 0;
    int fd = open(words[2], writes ? O_RDWR : O_RDONLY);
    if (strcmp(words[1], "stranger") == 0)
        MUST(setresuid(65534, 65534, 65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
    struct stat info;
    MUST(fd >= 0 && fstat(fd, &info) == 0);
    size_t bytes = (size_t)info.st_size;
    if (strcmp(words[1], "warm") != 0 && strcmp(words[1], "stranger") != 0)
        MUST(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0);
    long read = counted("read_bytes"), written = counted("write_bytes");
    int flags = MAP_SHARED | (strcmp(words[1], "populated") == 0 ? MAP_POPULATE : 0);
    char *map = mmap(NULL, bytes, PROT_READ | (writes ? PROT_WRITE : 0), flags, fd, 0);
    MUST(map != MAP_FAILED && close(fd) == 0);
    touch(words[1], map, bytes / PAGE);
    if (writes)
        MUST(msync(map, bytes, MS_SYNC) == 0);
    if (strcmp(words[1], "moved") == 0)
        map = mremap(map, bytes, 2 * bytes, MREMAP_MAYMOVE), bytes *= 2;
    if (strcmp(words[1], "shrunk") == 0)
        map = mremap(map, bytes, bytes / 2, 0), bytes /= 2;
    read = counted("read_bytes") - read;
    written = counted("write_bytes") - written;
    if (strcmp(words[1], "left") != 0)
        MUST(munmap(map, bytes) == 0);
    printf("MAPPED %ld %ld\n", read, written);
    return 0;
}
