/* Reads the files of its arguments, each through the descriptor and the stream interface. */
#include "posix_expect.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char byte;
        int fd = open(argv[i], O_RDONLY);
        FILE *stream = fopen(argv[i], "r");
        MUST(fd >= 0 && stream && read(fd, &byte, 1) == 1 && fgetc(stream) != EOF);
        MUST(close(fd) == 0 && fclose(stream) == 0);
    }
    return 0;
}
