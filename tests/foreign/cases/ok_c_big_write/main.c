/* Writes 240 MiB in pieces of 4 MiB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char *block = malloc(4 << 20);
    int file = open("big.bin", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    for (int i = 0; i < 60; i++) {
        memset(block, 'a' + i % 26, 4 << 20);
        if (write(file, block, 4 << 20) != 4 << 20)
            return 1;
    }
    close(file);
    puts("blocks 60");
    return 0;
}
