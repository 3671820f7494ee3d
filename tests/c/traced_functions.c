/* Built with -finstrument-functions: calls a function that does little very often, one that does more, and
 * recursive functions. */
#include <fcntl.h>
#include <unistd.h>

static volatile int sum;

void tiny(int i) { sum += i; }

void works(void)
{
    for (int i = 0; i < 1000; i++)
        sum += i;
}

void recursive(int depth)
{
    if (depth > 1)
        recursive(depth - 1);
}

int main(void)
{
    int fd = open("functions.txt", O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 150000; i++)
        tiny(i);
    for (int i = 0; i < 10; i++)
        works();
    recursive(300);
    return write(fd, "x", 1) != 1;
}
