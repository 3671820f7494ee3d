#include "pattern_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 5, LINE_LONGEST = 1024 };

bool pattern_input_like(const char *path)
{
    char word[LINE_LONGEST] = "";
    FILE *file = fopen(path, "r");
    bool like = file != NULL && fscanf(file, "%1023s", word) == 1 && (word[0] == 'w' || word[0] == 'r');
    if (file != NULL)
        fclose(file);
    return like;
}

static void need(bool there, const char *path, int line, const char *what, Trouble *trouble)
{
    if (!there)
        trouble_note(trouble, "%s, line %d: %s expected", path, line, what);
}

PatternInput pattern_input_read(const char *path, Trouble *trouble)
{
    PatternInput input = {0};
    char line[LINES][LINE_LONGEST] = {0};
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the input file %s: %s", path, strerror(errno));
        return input;
    }
    for (int i = 0; i < LINES && fgets(line[i], LINE_LONGEST, file) != NULL; i++)
        continue;
    fclose(file);
    bool operation = sscanf(line[0], " %c", &input.operation) == 1;
    need(operation && (input.operation == 'w' || input.operation == 'r'), path, 1, "w or r", trouble);
    need(sscanf(line[1], " %15[0-9]", input.method) == 1, path, 2, "a method, 0 to 3,", trouble);
    need(sscanf(line[2], "%d", &input.dumps) == 1, path, 3, "the number of dumps", trouble);
    need(sscanf(line[3], "%d%*[, \t]%d%*[, \t]%d", &input.grid[0], &input.grid[1], &input.grid[2]) == 3, path,
         4, "the grid points nx ny nz", trouble);
    need(sscanf(line[4], "%512s", input.directory) == 1, path, 5, "a directory", trouble);
    return input;
}
