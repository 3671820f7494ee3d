/* Writes results with a pause between them that was left in from a test. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    FILE *stream = fopen("result.bin", "wb");
    static char block[65536];
    for (int i = 0; i < 300; i++) {
        memset(block, i & 127, sizeof block);
        fwrite(block, sizeof block, 1, stream);
        if (!cured)
            usleep(10000);
    }
    fclose(stream);
    puts("blocks 300");
    return 0;
}
