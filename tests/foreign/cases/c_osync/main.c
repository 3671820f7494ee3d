/* Writes blocks of a checkpoint to a file that is opened with O_SYNC, or with one fdatasync at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("checkpoint", O_CREAT | O_TRUNC | O_WRONLY | (cured ? 0 : O_SYNC), 0644);
    char block[16384];
    for (int i = 0; i < 450; i++) {
        memset(block, i & 127, sizeof block);
        if (write(file, block, sizeof block) != sizeof block)
            return 1;
    }
    if (cured && fdatasync(file))
        return 1;
    close(file);
    puts("blocks 450");
    return 0;
}
