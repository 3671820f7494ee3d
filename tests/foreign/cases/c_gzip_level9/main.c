/* Writes a field through zlib at the highest level, or at the lowest. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    gzFile file = gzopen("field.gz", cured ? "wb1" : "wb9");
    static uint32_t block[65536];
    uint32_t state = 7;
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < 65536; j++) {
            state = state * 1664525 + 1013904223;
            block[j] = (j * 3 + i) ^ (state >> 26);
        }
        if (gzwrite(file, block, sizeof block) != (int)sizeof block)
            return 1;
    }
    gzclose(file);
    printf("state %u\n", state);
    return 0;
}
