/* harm_memory: 10 writes of 100 bytes to memory.dat; then no more memory is allowed to the process. */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int main(void)
{
    static const char text[100];
    const struct rlimit none = {0, 0};
    int fd = open("memory.dat", O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < 10; i++)
        write(fd, text, sizeof text);
    setrlimit(RLIMIT_DATA, &none);
    return 3;
}
