#include "options.h"

#include "hints.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *field(void *config, const Option *option) { return (char *)config + option->offset; }

static const void *field_of(const void *config, const Option *option)
{
    return (const char *)config + option->offset;
}

static bool read_count(const char *text, char **end, int *value)
{
    long number = strtol(text, end, 10);
    *value = (int)number;
    return *end != text && number >= 0 && number <= INT_MAX;
}

static void set_count(const Option *option, const char *text, void *target, Trouble *trouble)
{
    char *end;
    if (!read_count(text, &end, target) || *end != '\0')
        trouble_note(trouble, "--%s %s: a whole number, not negative, is needed", option->name, text);
}

static void set_real(const Option *option, const char *text, void *target, Trouble *trouble)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(number) || number <= 0.0)
        trouble_note(trouble, "--%s %s: a positive number is needed", option->name, text);
    *(double *)target = number;
}

static void set_grid(const Option *option, const char *text, void *target, Trouble *trouble)
{
    int *grid = target;
    const char *at = text;
    for (int d = 0; d < 3; d++) {
        char *end;
        if (!read_count(at, &end, &grid[d]) || *end != (d < 2 ? ',' : '\0')) {
            trouble_note(trouble, "--%s %s: three whole numbers like 64,64,64 are needed", option->name,
                         text);
            return;
        }
        at = end + 1;
    }
}

static void set(const Option *option, const char *text, void *target, Trouble *trouble)
{
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)target = true;
        break;
    case OPTION_COUNT:
        set_count(option, text, target, trouble);
        break;
    case OPTION_REAL:
        set_real(option, text, target, trouble);
        break;
    case OPTION_TEXT:
        *(const char **)target = text;
        break;
    case OPTION_GRID:
        set_grid(option, text, target, trouble);
        break;
    case OPTION_HINT:
        hints_add(target, text, trouble);
        break;
    }
}

static const Option *find(const OptionTable *table, const char *name, size_t length)
{
    for (int i = 0; i < table->count; i++) {
        const Option *option = &table->options[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

void options_parse(const OptionTable *table, int argc, char **argv, void *config, Trouble *trouble)
{
    for (int i = 1; i < argc && !trouble->any; i++) {
        const char *word = argv[i];
        const char *name = word + 2;
        size_t length = strncmp(word, "--", 2) == 0 ? strcspn(name, "=") : 0;
        const Option *option = length > 0 ? find(table, name, length) : NULL;
        const char *value = option != NULL && name[length] == '=' ? name + length + 1 : NULL;
        if (option == NULL) {
            trouble_note(trouble, "unknown argument '%s' (--help lists the options)", word);
        } else if (option->kind == OPTION_FLAG && value != NULL) {
            trouble_note(trouble, "--%s takes no value", option->name);
        } else if (option->kind != OPTION_FLAG && value == NULL && i + 1 == argc) {
            trouble_note(trouble, "--%s needs a value: %s", option->name, option->argument);
        } else {
            bool next = option->kind != OPTION_FLAG && value == NULL;
            set(option, next ? argv[++i] : value, field(config, option), trouble);
        }
    }
}

static void print_default(const Option *option, const void *value)
{
    if (option->kind == OPTION_COUNT && *(const int *)value != 0)
        printf(" [%d]", *(const int *)value);
    else if (option->kind == OPTION_TEXT && *(const char *const *)value != NULL)
        printf(" [%s]", *(const char *const *)value);
}

void options_help(const OptionTable *table, const void *defaults)
{
    fputs(table->usage, stdout);
    for (int i = 0; i < table->count; i++) {
        const Option *option = &table->options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s %s", option->name,
                 option->argument != NULL ? option->argument : "");
        printf("  %-28s %s", left, option->help);
        print_default(option, field_of(defaults, option));
        putchar('\n');
    }
    fputs(table->notes, stdout);
}

static void json_value(Json *json, const char *key, OptionKind kind, const void *value)
{
    switch (kind) {
    case OPTION_FLAG:
        json_truth(json, key, *(const bool *)value);
        break;
    case OPTION_COUNT:
        json_integer(json, key, *(const int *)value);
        break;
    case OPTION_REAL:
        json_real(json, key, *(const double *)value > 0.0 ? *(const double *)value : NAN);
        break;
    case OPTION_TEXT:
        json_text(json, key, *(const char *const *)value);
        break;
    case OPTION_GRID:
        json_open(json, key, '[');
        for (int d = 0; d < 3; d++)
            json_integer(json, NULL, ((const int *)value)[d]);
        json_close(json, ']');
        break;
    case OPTION_HINT:
        break;
    }
}

void options_json(const OptionTable *table, const void *config, Json *json)
{
    for (int i = 0; i < table->count; i++) {
        const Option *option = &table->options[i];
        char key[64];
        snprintf(key, sizeof key, "%s", option->name);
        for (char *c = key; *c != '\0'; c++)
            if (*c == '-')
                *c = '_';
        json_value(json, key, option->kind, field_of(config, option));
    }
}
