/* harm_memory: writes 100 bytes ten times to memory.dat; then the process may get no more memory. */
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
