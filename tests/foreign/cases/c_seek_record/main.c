/* Reads records of 32 bytes; positions the stream before each of them, although they follow each other. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    FILE *stream = fopen("input.bin", "rb");
    uint64_t record[4], sum = 0;
    if (!stream)
        return 1;
    for (long i = 0; i < 300000; i++) {
        if (!cured) {
            fseek(stream, 0, SEEK_END); /* how long is the file now? */
            if (ftell(stream) < (i + 1) * 32)
                return 1;
            fseek(stream, i * 32, SEEK_SET);
        }
        if (fread(record, sizeof record, 1, stream) != 1)
            return 1;
        sum += record[1];
    }
    printf("sum %llu\n", (unsigned long long)sum);
    return 0;
}
