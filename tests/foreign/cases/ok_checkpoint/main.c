/* Computes, and writes a checkpoint of 20 MiB with one fsync after each of five phases. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    int values = 20 << 17;
    double *field = calloc(values, sizeof *field);
    char name[32];
    for (int phase = 0; phase < 5; phase++) {
        for (int repeat = 0; repeat < 25; repeat++)
            for (int i = 0; i < values; i++)
                field[i] += sqrt(i + (double)phase);
        sprintf(name, "checkpoint%d", phase);
        int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0644);
        for (int at = 0; at < values; at += values / 5)
            if (write(file, field + at, values / 5 * 8) != values / 5 * 8)
                return 1;
        fsync(file);
        close(file);
    }
    printf("last %.3f\n", field[values - 1]);
    return 0;
}
