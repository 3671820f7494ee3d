/* A log that opens and closes its file for each line, or keeps the file open. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    FILE *stream = cured ? fopen("log.txt", "a") : NULL;
    char line[80];
    for (int i = 0; i < 260000; i++) {
        int length = sprintf(line, "step %08d residual %10.6f\n", i, 1.0 / (i + 1));
        if (cured) {
            fwrite(line, length, 1, stream);
            continue;
        }
        int file = open("log.txt", O_CREAT | O_WRONLY | O_APPEND, 0644);
        if (write(file, line, length) != length)
            return 1;
        close(file);
    }
    if (stream)
        fclose(stream);
    puts("lines 260000");
    return 0;
}
