/* A library, and with PROGRAM a program that loads it in the way that its argument names. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef PROGRAM

int main(int argc, char **argv)
{
    void *library = strcmp(argv[1], "namespace") == 0 ? dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW)
                                                      : dlopen(argv[2], RTLD_LAZY | RTLD_DEEPBIND);
    if (!library)
        return puts(dlerror());
    ((void (*)(void))dlsym(library, "work"))();
    return 0;
}

#else

/* A function of the library's own that has the name of a wrapped one. */
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    (void)fd, (void)data, (void)offset;
    return (ssize_t)bytes;
}

void work(void)
{
    static char data[1000000];
    ssize_t (*own)(int, const void *, size_t, off_t) = pwrite;
    int fd = open("deep", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    write(fd, data, sizeof data);
    if (own(fd, data, sizeof data, 0) != sizeof data)
        _exit(1);
    close(fd);
    FILE *text = fopen("text", "w");
    fputs("abc", text);
    fclose(text);
}

#endif
