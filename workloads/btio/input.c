#include "input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads up to `most` numbers from the next line into `values`; returns how many there were, -1 at the end of
 * the file. Fortran's exponent letter d and commas are understood; what follows the numbers is a comment. */
static int numbers_on_line(FILE *file, double *values, int most)
{
    char *line = NULL;
    size_t room = 0;
    int found = -1;
    if (getline(&line, &room, file) >= 0) {
        for (char *c = line; *c != '\0'; c++)
            *c = *c == 'd' || *c == 'D' ? 'e' : *c == ',' ? ' ' : *c;
        char *at = line, *end;
        for (found = 0; found < most; found++, at = end) {
            values[found] = strtod(at, &end);
            if (end == at)
                break;
        }
    }
    free(line);
    return found;
}

static void need(bool there, const char *path, int line, const char *what, Trouble *trouble)
{
    if (!there)
        trouble_note(trouble, "%s, line %d: %s expected", path, line, what);
}

static Input read_lines(FILE *file, const char *path, Trouble *trouble)
{
    Input input = {0};
    double v[3];
    need(numbers_on_line(file, v, 1) == 1, path, 1, "the number of time steps", trouble);
    input.steps = (int)v[0];
    need(numbers_on_line(file, v, 1) == 1, path, 2, "the time step dt", trouble);
    input.dt = v[0];
    need(numbers_on_line(file, v, 3) == 3, path, 3, "the grid points nx ny nz", trouble);
    for (int d = 0; d < 3; d++)
        input.grid[d] = (int)v[d];
    int intervals = numbers_on_line(file, v, 2);
    input.write_interval = intervals > 0 && v[0] > 0 ? (int)v[0] : 0;
    input.read_interval = intervals > 1 && v[1] > 0 ? (int)v[1] : 0;
    if (numbers_on_line(file, v, 2) == 2) {
        input.has_collbuf = 1;
        input.collbuf[0] = (int)v[0];
        input.collbuf[1] = (int)v[1];
    }
    return input;
}

Input input_read(const char *path, Trouble *trouble)
{
    Input input = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the input file %s: %s", path, strerror(errno));
        return input;
    }
    int first = fgetc(file);
    ungetc(first, file);
    if (first == 'w' || first == 'r')
        trouble_note(trouble,
                     "%s begins with '%c': that is the format of Northwestern's BTIO; for it, run btio %s",
                     path, first, path);
    else
        input = read_lines(file, path, trouble);
    fclose(file);
    return input;
}
