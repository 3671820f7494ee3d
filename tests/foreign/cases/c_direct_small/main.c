/* Reads a file past the page cache, in pieces of 4 KiB or of 4 MiB. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t piece = argc > 1 && !strcmp(argv[1], "twin") ? 4 << 20 : 4096;
    int file = open("input.bin", O_RDONLY | O_DIRECT);
    void *buffer;
    if (file < 0 || posix_memalign(&buffer, 4096, piece))
        return 1;
    uint64_t sum = 0;
    ssize_t got;
    while ((got = read(file, buffer, piece)) > 0)
        for (ssize_t i = 0; i < got / 8; i += 512)
            sum += ((uint64_t *)buffer)[i];
    close(file);
    printf("sum %llu\n", (unsigned long long)sum);
    return got < 0;
}
