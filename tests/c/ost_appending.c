/* Appends to one file through several buffered streams. The kernel's count of written bytes is the expected
 * value. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    FILE *a = argc > 2 ? fopen(argv[1], "a") : NULL, *b = argc > 2 ? fopen(argv[1], "a+") : NULL;
    if (!a || !b || fputs("0123456789", a) < 0 || fputs("01234", b) < 0)
        return 1;
    if (strcmp(argv[2], "flush") == 0)
        return fflush(NULL) || fputs("0123456789", a) < 0 || fflush(a) || fputs("01", b) < 0 ||
               fseek(b, 0, SEEK_SET);
    if (strcmp(argv[2], "close") == 0)
        return fclose(a) || fclose(b);
    if (strcmp(argv[2], "reopen") == 0)
        return !freopen(argv[1], "a", a) || fputs("012", a) < 0 || fclose(b);
    return 0;
}
