#include "params.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum unit { COUNT, SIZE, MB_PER_S, MICROSECONDS, FLAG, SHARE };

static const struct row {
    const char *key;
    enum unit unit;
    size_t field;
    double least, most;
    bool effect; /* True for a parameter of an effect, which is off unless the configuration names it. */
} rows[] = {
#define PARAM(key, unit, field, least, most)                                                                 \
    {key, unit, offsetof(struct ost_params, field), least, most, false},
#define EFFECT(key, unit, field, least, most)                                                                \
    {key, unit, offsetof(struct ost_params, field), least, most, true},
#include "params.def"
#undef PARAM
#undef EFFECT
};
#define ROWS (sizeof rows / sizeof *rows)

static double scale_of(char suffix)
{
    switch (tolower((unsigned char)suffix)) {
    case 'k':
        return 1024;
    case 'm':
        return 1024 * 1024;
    case 'g':
        return 1024 * 1024 * 1024;
    default:
        return 0;
    }
}

static void store(struct ost_params *params, const struct row *row, double value)
{
    void *field = (char *)params + row->field;
    switch (row->unit) {
    case COUNT:
        *(int *)field = (int)value;
        break;
    case SIZE:
        *(int64_t *)field = (int64_t)value;
        break;
    case MB_PER_S:
        *(double *)field = value * 1e6;
        break;
    case MICROSECONDS:
        *(double *)field = value * 1e-6;
        break;
    case SHARE:
        *(double *)field = value;
        break;
    case FLAG:
        *(bool *)field = value != 0;
        break;
    }
}

/* Splits a line without its comment; `key` and `value` point into the line. Returns false for an empty
 * line. */
static bool split(char *line, char **key, char **value)
{
    line[strcspn(line, "#")] = '\0';
    *key = line + strspn(line, " \t");
    char *colon = strchr(*key, ':');
    *value = colon ? colon + 1 + strspn(colon + 1, " \t") : NULL;
    if (colon)
        *colon = '\0';
    char *last = *value ? *value : *key;
    for (size_t n = strlen(last); n > 0 && isspace((unsigned char)last[n - 1]); n--)
        last[n - 1] = '\0';
    return **key != '\0';
}

static int parse_line(char *line, int number, struct ost_params *params, bool *seen, char *problem,
                      size_t room)
{
    char *key, *value, *end;
    if (!split(line, &key, &value))
        return 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].key, key) != 0)
            continue;
        double amount = value ? strtod(value, &end) : NAN;
        if (value && rows[i].unit == SIZE && scale_of(*end) > 0)
            amount *= scale_of(*end++);
        if (!value || end == value || *end || !(amount >= rows[i].least && amount <= rows[i].most)) {
            snprintf(problem, room, "line %d: %s must be a number from %.10g to %.10g, not '%s'", number, key,
                     rows[i].least, rows[i].most, value ? value : "");
            return -1;
        }
        store(params, &rows[i], amount);
        seen[i] = true;
        return 0;
    }
    snprintf(problem, room, "line %d: unknown key '%s'; storage/README.md lists the keys", number, key);
    return -1;
}

int ost_params_parse(const char *text, struct ost_params *params, char *problem, size_t room)
{
    bool seen[ROWS] = {false};
    memset(params, 0, sizeof *params);
    for (int number = 1; *text; number++) {
        char line[256];
        size_t length = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(length < 255 ? length : 255), text);
        text += length + (text[length] == '\n');
        if (parse_line(line, number, params, seen, problem, room) != 0)
            return -1;
    }
    for (size_t i = 0; i < ROWS; i++)
        if (!seen[i] && !rows[i].effect) {
            snprintf(problem, room, "the key '%s' is missing", rows[i].key);
            return -1;
        }
    if (params->stripe_count > params->targets) {
        snprintf(problem, room, "stripe_count %d is more than the %d targets", params->stripe_count,
                 params->targets);
        return -1;
    }
    if ((params->targets_per_server > 0) != (params->server_bandwidth > 0)) {
        snprintf(problem, room,
                 "targets_per_server and server_mb_per_s must be set together: give both, or neither");
        return -1;
    }
    return 0;
}

bool whole_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}
