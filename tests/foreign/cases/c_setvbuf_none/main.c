/* Writes samples of a sensor through a C stream. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    FILE *stream = fopen("samples.bin", "wb");
    if (!cured)
        setvbuf(stream, NULL, _IONBF, 0);
    for (int i = 0; i < 900000; i++) {
        double sample[3] = {i, i * 0.5, i * 0.25};
        if (fwrite(sample, sizeof sample, 1, stream) != 1)
            return 1;
    }
    fclose(stream);
    puts("samples 900000");
    return 0;
}
