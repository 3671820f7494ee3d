/* Adds to counters of 64 bytes in a file: one at a time in the file, or all in memory. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNTERS 200000
#define EVENTS   300000

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("counters.bin", O_CREAT | O_TRUNC | O_RDWR, 0644);
    uint64_t(*all)[8] = calloc(COUNTERS, 64), one[8], state = 1;
    if (write(file, all, COUNTERS * 64) != COUNTERS * 64)
        return 1;
    for (int i = 0; i < EVENTS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        off_t counter = (state >> 33) % COUNTERS;
        if (cured) {
            all[counter][i % 8]++;
            continue;
        }
        if (pread(file, one, 64, counter * 64) != 64)
            return 1;
        one[i % 8]++;
        if (pwrite(file, one, 64, counter * 64) != 64)
            return 1;
    }
    if (cured && pwrite(file, all, COUNTERS * 64, 0) != COUNTERS * 64)
        return 1;
    close(file);
    printf("events %d\n", EVENTS);
    return 0;
}
