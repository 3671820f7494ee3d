/* Reads one field of each record of 64 bytes, with a call for each, or in large blocks. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("input.bin", O_RDONLY);
    static char block[1 << 20];
    uint64_t sum = 0, field;
    for (long i = 0; i < 64l * 16384; i++) {
        if (cured) {
            if (i % 16384 == 0 && read(file, block, sizeof block) != sizeof block)
                return 1;
            memcpy(&field, block + i % 16384 * 64 + 24, 8);
        } else if (pread(file, &field, 8, i * 64 + 24) != 8) {
            return 1;
        }
        sum += field;
    }
    printf("sum %llu\n", (unsigned long long)sum);
    return 0;
}
