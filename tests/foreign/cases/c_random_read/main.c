/* Looks up 30000 records of 4 KiB in a large file: in the order of the queries, or sorted by place in large
 * reads. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUERIES 30000
#define RECORDS (240 * 256)

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("input.bin", O_RDONLY);
    static uint32_t wanted[RECORDS];
    uint64_t sum = 0, state = 12345;
    static char record[4096], block[1 << 20];
    if (file < 0)
        return 1;
    for (int i = 0; i < QUERIES; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t place = (state >> 33) % RECORDS;
        if (cured) {
            wanted[place]++;
        } else {
            if (pread(file, record, sizeof record, (off_t)place * 4096) != 4096)
                return 1;
            sum += ((uint64_t *)record)[7];
        }
    }
    if (cured)
        for (int megabyte = 0; megabyte < 240; megabyte++) {
            if (pread(file, block, sizeof block, (off_t)megabyte << 20) != sizeof block)
                return 1;
            for (int i = 0; i < 256; i++)
                sum += wanted[megabyte * 256 + i] * ((uint64_t *)(block + i * 4096))[7];
        }
    printf("sum %llu\n", (unsigned long long)sum);
    return 0;
}
