#include "resource.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEYS_MAX = 64 };

static const char *const TRUE_WORDS[] = {".true.", ".t.", "true", "t", "yes", "y", "on"};
static const char *const FALSE_WORDS[] = {".false.", ".f.", "false", "f", "no", "n", "off"};
enum { TRUTH_WORDS = sizeof TRUE_WORDS / sizeof TRUE_WORDS[0] };

/* Returns 1 for true, 0 for false, -1 for any other word. */
static int truth_of(const char *word)
{
    for (int i = 0; i < TRUTH_WORDS; i++) {
        if (strcasecmp(word, TRUE_WORDS[i]) == 0)
            return 1;
        if (strcasecmp(word, FALSE_WORDS[i]) == 0)
            return 0;
    }
    return -1;
}

static void set(const Key *key, const char *word, const char *where, Problem *problem, Trouble *trouble)
{
    void *field = (char *)problem + key->offset;
    if (key->kind == KEY_COUNT) {
        char *end;
        errno = 0;
        long number = strtol(word, &end, 10);
        if (end == word || *end != '\0' || errno != 0 || number < 0 || number > INT_MAX)
            trouble_note(trouble, "%s: %s: '%s' is not a whole number from 0 to %d", where, key->name, word,
                         INT_MAX);
        else
            *(int *)field = (int)number;
        return;
    }
    int truth = truth_of(word);
    if (truth < 0)
        trouble_note(trouble, "%s: %s: '%s' is neither .true. nor .false.", where, key->name, word);
    else
        *(bool *)field = truth == (key->kind == KEY_TRUTH);
}

static void warn(const char *where, const char *key, const char *why)
{
    fprintf(stderr, "%s: warning: %s: %s %s\n", program_invocation_short_name, where, key, why);
}

/* Reads one line without its comment. */
static void read_line(char *line, const char *where, const Program *program, bool *seen, Problem *problem,
                      Trouble *trouble)
{
    static const char blanks[] = " \t\r\n";
    char *name = line + strspn(line, blanks);
    char *colon = strchr(name, ':');
    if (*name == '\0')
        return;
    if (colon == NULL) {
        trouble_note(trouble, "%s: '%s' is not a line like NX: 4", where, name);
        return;
    }
    *colon = '\0';
    name[strcspn(name, blanks)] = '\0';
    char *value = colon + 1 + strspn(colon + 1, blanks);
    value[strcspn(value, blanks)] = '\0';
    int at = 0;
    while (at < program->key_count && strcasecmp(program->keys[at].name, name) != 0)
        at++;
    if (at == program->key_count) {
        warn(where, name, "is not a key of this program and is ignored");
    } else if (seen[at]) {
        warn(where, name, "is given again; the first value holds");
    } else {
        seen[at] = true;
        set(&program->keys[at], value, where, problem, trouble);
    }
}

static void check_required(const char *path, const Program *program, const bool *seen, Trouble *trouble)
{
    char missing[512] = "";
    for (int i = 0; i < program->key_count; i++)
        if (program->keys[i].required && !seen[i]) {
            size_t used = strlen(missing);
            snprintf(missing + used, sizeof missing - used, "%s%s", used > 0 ? ", " : "",
                     program->keys[i].name);
        }
    if (missing[0] != '\0')
        trouble_note(trouble, "%s: required and missing: %s (a line like NX: 4 for each)", path, missing);
}

void resource_read(const char *path, const Program *program, Problem *problem, Trouble *trouble)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        trouble_note(trouble, "cannot read the configuration file %s: %s", path, strerror(errno));
        return;
    }
    bool seen[KEYS_MAX] = {false};
    char *line = NULL;
    size_t room = 0;
    for (int number = 1; getline(&line, &room, file) >= 0 && !trouble->any; number++) {
        char where[512];
        snprintf(where, sizeof where, "%s, line %d", path, number);
        line[strcspn(line, "#!\r\n")] = '\0';
        read_line(line, where, program, seen, problem, trouble);
    }
    if (ferror(file))
        trouble_note(trouble, "cannot read the configuration file %s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    check_required(path, program, seen, trouble);
}
