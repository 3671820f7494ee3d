#include "why_delay.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

void planted_delay(int step)
{
    static char data[MIB];
    int count = atoi(getenv("DELAY_MIB"));
    char path[4096];
    if (count == 0)
        return;
    snprintf(path, sizeof path, "%s/delay.%d", getenv("DELAY_FOLDER"), step);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    for (int i = 0; i < count; i++)
        if (write(file, data, sizeof data) != MIB)
            exit(1);
    fsync(file);
    close(file);
}

void work(int milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&time, NULL);
}
