/* harm_ends HOW: writes 5 bytes to ends.dat, then
 *   quick_exit  calls quick_exit
 *   deep        opens deep.dat in a folder whose path is longer than PATH_MAX, once in the current folder and
 *               once below a descriptor of that folder, and writes 5 bytes each time */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH = 25, NAME = 200 };

static void use(int folder, const char *name)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    write(fd, "bytes", 5);
    close(fd);
}

int main(int count, char **argument)
{
    const char *how = count > 1 ? argument[1] : "quick_exit";
    char name[NAME + 1];
    use(AT_FDCWD, "ends.dat");
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(3);
    memset(name, 'n', NAME);
    name[NAME] = '\0';
    for (int i = 0; i < DEPTH; i++)
        if (mkdir(name, 0700) != 0 || chdir(name) != 0)
            return 1;
    use(AT_FDCWD, "deep.dat");
    use(open(".", O_RDONLY | O_DIRECTORY), "deep.dat");
    return 3;
}
