/* A journal: appends entries of 4 KiB, each made durable at once, or all at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("journal", O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0644);
    char entry[4096];
    for (int i = 0; i < 900; i++) {
        memset(entry, 'a' + i % 26, sizeof entry);
        if (write(file, entry, sizeof entry) != sizeof entry)
            return 1;
        if (!cured && fsync(file))
            return 1;
    }
    if (fsync(file))
        return 1;
    close(file);
    puts("entries 900");
    return 0;
}
