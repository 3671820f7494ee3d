#include "script.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 4096, TESTS_MAX = 1000 };

static char *trimmed(char *text)
{
    text += strspn(text, " \t\r\n");
    char *end = text + strcspn(text, "#\n");
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    return text;
}

/* Handles one line; returns 1 after RUN, 2 after IOR STOP, else 0. */
static int take_line(char *text, Settings *now, Trouble *trouble)
{
    char *equals = strchr(text, '=');
    if (*text == '\0' || strcasecmp(text, "ior start") == 0)
        return 0;
    if (strcasecmp(text, "run") == 0)
        return 1;
    if (strcasecmp(text, "ior stop") == 0)
        return 2;
    if (equals == NULL) {
        trouble_note(trouble, "'%s' is neither key=value nor IOR START, RUN or IOR STOP", text);
        return 0;
    }
    *equals = '\0';
    options_set(&IOR_OPTIONS, trimmed(text), strdup(trimmed(equals + 1)), now, trouble);
    return 0;
}

Tests script_read(const char *path, const Settings *base, Trouble *trouble)
{
    Tests tests = {0, allocate(TESTS_MAX, sizeof *base)};
    Settings now = *base;
    char line[LINE];
    int number = 0, done = 0;
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        trouble_note(trouble, "script file %s: %s", path, strerror(errno));
        return tests;
    }
    while (done != 2 && !trouble->any && fgets(line, sizeof line, in) != NULL) {
        Trouble here = {0};
        number++;
        done = take_line(trimmed(line), &now, &here);
        if (here.any)
            trouble_note(trouble, "%s:%d: %s", path, number, here.text);
        if (done == 1 && tests.count == TESTS_MAX)
            trouble_note(trouble, "%s:%d: more than %d tests", path, number, TESTS_MAX);
        else if (done == 1)
            tests.list[tests.count++] = now;
    }
    fclose(in);
    if (!trouble->any && tests.count == 0)
        trouble_note(trouble, "%s: no RUN line, so there is nothing to do", path);
    return tests;
}
