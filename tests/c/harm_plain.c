/* harm_plain: does what ordinary programs do: writes and reads a file, leaves text in a buffer for a while,
 * and returns an exit code. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    char text[6] = "";
    int fd = open("plain.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    long moved = write(fd, "first", 5) + pread(fd, text, 5, 0);
    FILE *stream = fopen("plain.txt", "w");
    moved += fprintf(stream, "second");
    fclose(stream);
    close(fd);
    unlink("plain.dat");
    unlink("plain.txt");
    printf("%s %ld", text, moved);
    return 3;
}
