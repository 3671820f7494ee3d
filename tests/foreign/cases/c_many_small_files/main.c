/* Writes one tiny file for each cell, or all cells into one file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CELLS 12000

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    FILE *together = cured ? fopen("cells.bin", "wb") : NULL;
    char name[64], cell[200];
    mkdir("cells", 0755);
    for (int i = 0; i < CELLS; i++) {
        memset(cell, i & 127, sizeof cell);
        if (cured) {
            fwrite(cell, sizeof cell, 1, together);
            continue;
        }
        sprintf(name, "cells/cell%06d", i);
        int file = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);
        if (write(file, cell, sizeof cell) != sizeof cell)
            return 1;
        close(file);
    }
    if (together)
        fclose(together);
    printf("cells %d\n", CELLS);
    return 0;
}
