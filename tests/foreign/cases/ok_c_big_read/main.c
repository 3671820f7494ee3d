/* Reads a file of 240 MiB in pieces of 4 MiB, once and in order. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    uint64_t *block = malloc(4 << 20), sum = 0;
    int file = open("input.bin", O_RDONLY);
    ssize_t got;
    while ((got = read(file, block, 4 << 20)) > 0)
        for (ssize_t i = 0; i < got / 8; i++)
            sum += block[i];
    printf("sum %llu\n", (unsigned long long)sum);
    return got < 0;
}
