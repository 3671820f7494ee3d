/* Saves a field of doubles as text with all digits, or as they are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 1500000

int main(int argc, char **argv)
{
    int cured = argc > 1 && !strcmp(argv[1], "twin");
    double *field = malloc(VALUES * sizeof *field), sum = 0;
    for (int i = 0; i < VALUES; i++)
        sum += field[i] = (i % 1013) * 1.37e-3 + i;
    FILE *stream = fopen("field", "w");
    if (cured)
        fwrite(field, sizeof *field, VALUES, stream);
    else
        for (int i = 0; i < VALUES; i++)
            fprintf(stream, "%.17g\n", field[i]);
    fclose(stream);
    printf("sum %.6e\n", sum);
    return 0;
}
