/* harm_streams HOW: closes streams in append mode in a way that no preloaded library sees, and fills their
 * memory with values that a stream never has. Exit code 3. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STREAMS = 8, BLOCKS = 200 };

void iolens_record(int state) __attribute__((weak));

static int (*own_fclose(void))(FILE *)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return (int (*)(FILE *))dlsym(library, "fclose");
}

int main(int count, char **argument)
{
    int (*unseen)(FILE *) = own_fclose();
    FILE *stream[STREAMS], *last = fopen("kept.txt", "a");
    fputs("kept", last);
    for (int i = 0; i < STREAMS; i++) {
        char name[32];
        snprintf(name, sizeof name, "unseen%d.txt", i);
        stream[i] = fopen(name, i % 2 ? "a" : "w");
        fputs("text", stream[i]);
    }
    for (int i = 0; i < STREAMS; i++)
        unseen(stream[i]);
    for (int i = 0; i < BLOCKS; i++)
        memset(malloc(16 + 8 * (i % 100)), 0x7f, 16 + 8 * (i % 100));
    if (strcmp(argument[1], "flush") == 0)
        fflush(NULL);
    if (strcmp(argument[1], "all") == 0)
        fcloseall();
    if (strcmp(argument[1], "record") == 0 && iolens_record) {
        iolens_record(0);
        iolens_record(1);
    }
    if (strcmp(argument[1], "leave") == 0)
        _exit(3);
    return 3;
}
