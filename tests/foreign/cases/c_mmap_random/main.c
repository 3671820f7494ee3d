/* Sums values at random places of a mapped file that is not in memory, or reads the file in order first. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (200l << 20)

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("input.bin", O_RDONLY);
    uint64_t *values, sum = 0, state = 99;
    if (file < 0)
        return 1;
    if (cured) {
        values = malloc(BYTES);
        for (long at = 0; at < BYTES; at += 4 << 20)
            if (read(file, (char *)values + at, 4 << 20) != 4 << 20)
                return 1;
    } else {
        values = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, file, 0);
        madvise(values, BYTES, MADV_RANDOM);
    }
    for (int i = 0; i < 28000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += values[(state >> 33) % (BYTES / 8)];
    }
    printf("sum %llu\n", (unsigned long long)sum);
    return 0;
}
