/* Overwrites every other block of an old file: blocks begin 100 bytes after a page, or at a page. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("old.bin", O_WRONLY);
    char block[8192];
    off_t header = cured ? 4096 : 100;
    if (file < 0)
        return 1;
    posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
    for (int i = 0; i < 8000; i++) {
        memset(block, i & 127, sizeof block);
        if (pwrite(file, block, sizeof block, header + (off_t)i * 16384) != sizeof block)
            return 1;
    }
    close(file);
    puts("blocks 8000");
    return 0;
}
