/* For each time step, reads the whole table of coefficients again, or reads the table once. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (12 << 20)

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    char *table = malloc(BYTES);
    uint64_t sum = 0;
    for (int step = 0; step < 200; step++) {
        if (!cured || !step) {
            int file = open("table.bin", O_RDONLY);
            for (size_t at = 0; at < BYTES; at += 1 << 20)
                if (read(file, table + at, 1 << 20) != 1 << 20)
                    return 1;
            close(file);
        }
        for (size_t i = 0; i < 4096; i++)
            sum += ((uint64_t *)table)[(i * 131 + step * 17) % (BYTES / 8)];
    }
    printf("sum %llu\n", (unsigned long long)sum);
    return 0;
}
