/* Writes particle records to a results file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RECORDS 1000000

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("particles.bin", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    static char block[16 * 65536];
    size_t filled = 0;
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t record[2] = {i, i * 2654435761u};
        if (!cured) {
            if (write(file, record, sizeof record) != sizeof record)
                return 1;
            continue;
        }
        memcpy(block + filled, record, sizeof record);
        filled += sizeof record;
        if (filled == sizeof block || i == RECORDS - 1) {
            if (write(file, block, filled) != (ssize_t)filled)
                return 1;
            filled = 0;
        }
    }
    close(file);
    printf("records %d\n", RECORDS);
    return 0;
}
