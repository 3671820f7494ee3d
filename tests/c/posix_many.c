/* Writes once to each of COUNT files: posix_many COUNT */
#include "posix_expect.h"

int main(int count, char **argument)
{
    int files = count > 1 ? atoi(argument[1]) : 3000;
    MUST(mkdir("many", 0700) == 0 && chdir("many") == 0);
    for (int i = 0; i < files; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%d", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        MUST(fd >= 0 && write(fd, "hello", 5) == 5 && close(fd) == 0);
    }
    return 0;
}
