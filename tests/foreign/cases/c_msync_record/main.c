/* Changes records of a mapped file, and makes each durable at once, or all at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (4 << 20)

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    int file = open("state.bin", O_CREAT | O_TRUNC | O_RDWR, 0644);
    if (ftruncate(file, BYTES))
        return 1;
    char *state = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (int i = 0; i < 500; i++) {
        memset(state + i * 4096l, 'a' + i % 26, 64);
        if (!cured && msync(state + i * 4096l, 4096, MS_SYNC))
            return 1;
    }
    if (msync(state, BYTES, MS_SYNC))
        return 1;
    puts("records 500");
    return 0;
}
