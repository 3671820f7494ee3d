#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "hints.h"

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
        trouble_note(trouble, "--%s %s: the value must be a whole number that is not negative", option->name,
                     text);
}

bool options_size(const char *text, int64_t *bytes)
{
    static const char suffixes[] = "kmgt";
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    const char *suffix = *end != '\0' ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
    int shift = suffix != NULL ? 10 * (int)(suffix - suffixes + 1) : 0;
    end += suffix != NULL;
    *bytes = (int64_t)((uint64_t)number << shift);
    return end != text && *end == '\0' && errno == 0 && number >= 0 && number <= INT64_MAX >> shift;
}

static void set_int(const Option *option, const char *text, void *target, Trouble *trouble)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    *(int *)target = (int)number;
    if (end == text || *end != '\0' || errno != 0 || number < INT_MIN || number > INT_MAX)
        trouble_note(trouble, "--%s %s: the value must be a whole number", option->name, text);
}

/* Adds 1 to the option's number. In a list of key=value the value is the number that is added. */
static void set_tally(const Option *option, const char *text, void *target, Trouble *trouble)
{
    int times = 1;
    if (text != NULL)
        set_int(option, text, &times, trouble);
    *(int *)target += times;
}

static void set_size(const Option *option, const char *text, void *target, Trouble *trouble)
{
    if (!options_size(text, target))
        trouble_note(trouble, "--%s %s: the value must be a size: bytes, or a number with k, m, g or t",
                     option->name, text);
}

static void set_real(const Option *option, const char *text, void *target, Trouble *trouble)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !is_finite(number) || number <= 0.0)
        trouble_note(trouble, "--%s %s: the value must be a positive number", option->name, text);
    *(double *)target = number;
}

static void set_grid(const Option *option, const char *text, void *target, Trouble *trouble)
{
    int *grid = target;
    const char *at = text;
    for (int d = 0; d < 3; d++) {
        char *end;
        if (!read_count(at, &end, &grid[d]) || *end != (d < 2 ? ',' : '\0')) {
            trouble_note(trouble, "--%s %s: the value must be three whole numbers such as 64,64,64",
                         option->name, text);
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
    case OPTION_INT:
        set_int(option, text, target, trouble);
        break;
    case OPTION_SIZE:
        set_size(option, text, target, trouble);
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
    case OPTION_TALLY:
        set_tally(option, text, target, trouble);
        break;
    case OPTION_HINT:
        hints_add(target, text, trouble);
        break;
    case OPTION_SET:
        break;
    }
}

static bool stands_alone(const Option *option)
{
    return option->kind == OPTION_FLAG || option->kind == OPTION_TALLY;
}

static bool is_named(const Option *option, const char *name, size_t length)
{
    if (strlen(option->name) == length && strncasecmp(option->name, name, length) == 0)
        return true;
    for (const char *at = option->also; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && strncasecmp(at, name, length) == 0)
            return true;
        at += size;
    }
    return false;
}

static const Option *find(const OptionTable *table, const char *name, size_t length)
{
    for (int i = 0; i < table->count; i++)
        if (is_named(&table->options[i], name, length))
            return &table->options[i];
    return NULL;
}

static const Option *find_letter(const OptionTable *table, char letter)
{
    for (int i = 0; i < table->count; i++)
        if (table->options[i].letter != 0 && table->options[i].letter == letter)
            return &table->options[i];
    return NULL;
}

/* The words of a command line, with the place of the next one. */
typedef struct Words {
    int count, next;
    char **list;
} Words;

/* Sets each `key=value` of a list; a key without a value switches a flag on. */
static void set_list(const OptionTable *table, const char *text, void *config, Trouble *trouble)
{
    char word[PATH_MAX];
    for (const char *at = text; *at != '\0' && !trouble->any; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (length >= sizeof word) {
            trouble_note(trouble, "'%.60s…' is longer than the %zu bytes for which a list has room", at,
                         sizeof word - 1);
            return;
        }
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at += length;
        char *equals = strchr(word, '=');
        if (equals != NULL)
            *equals = '\0';
        options_set(table, word, equals != NULL ? strdup(equals + 1) : "1", config, trouble);
    }
}

/* Handles one option of the table with its value. */
static void put(const OptionTable *table, const Option *option, const char *text, void *config,
                Trouble *trouble)
{
    if (option->kind == OPTION_SET)
        set_list(table, text, config, trouble);
    else
        set(option, text, field(config, option), trouble);
}

/* Sets an option to its value: the text attached to the option's name, or else the next word. */
static void take(const OptionTable *table, const Option *option, const char *attached, Words *words,
                 void *config, Trouble *trouble)
{
    if (stands_alone(option))
        put(table, option, NULL, config, trouble);
    else if (attached != NULL)
        put(table, option, attached, config, trouble);
    else if (words->next < words->count)
        put(table, option, words->list[words->next++], config, trouble);
    else
        trouble_note(trouble, "--%s needs a value: %s", option->name, option->argument);
}

static void parse_long(const OptionTable *table, const char *word, Words *words, void *config,
                       Trouble *trouble)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const Option *option = find(table, name, length);
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (option == NULL)
        trouble_note(trouble, "unknown argument '%s' (--help lists the options)", word);
    else if (stands_alone(option) && value != NULL)
        trouble_note(trouble, "--%s takes no value", option->name);
    else
        take(table, option, value, words, config, trouble);
}

static void parse_letters(const OptionTable *table, const char *word, Words *words, void *config,
                          Trouble *trouble)
{
    for (const char *at = word + 1; *at != '\0' && !trouble->any; at++) {
        const Option *option = find_letter(table, *at);
        if (option == NULL) {
            trouble_note(trouble, "unknown argument '%s' (--help lists the options)", word);
        } else if (stands_alone(option)) {
            take(table, option, NULL, words, config, trouble);
        } else {
            const char *rest = at[1] == '=' ? at + 2 : at + 1;
            take(table, option, *rest != '\0' ? rest : NULL, words, config, trouble);
            return;
        }
    }
}

void options_set(const OptionTable *table, const char *name, const char *value, void *config,
                 Trouble *trouble)
{
    size_t length = strlen(name);
    const Option *option = length == 1 ? find_letter(table, *name) : find(table, name, length);
    if (option == NULL)
        trouble_note(trouble, "unknown option '%s' (--help lists the options)", name);
    else if (option->kind == OPTION_FLAG)
        *(bool *)field(config, option) = strcmp(value, "0") != 0;
    else
        put(table, option, value, config, trouble);
}

void options_parse(const OptionTable *table, int argc, char **argv, void *config, Trouble *trouble)
{
    Words words = {.count = argc, .next = 1, .list = argv};
    while (words.next < words.count && !trouble->any) {
        const char *word = words.list[words.next++];
        if (strncmp(word, "--", 2) == 0 && word[2] != '\0')
            parse_long(table, word, &words, config, trouble);
        else if (word[0] == '-' && word[1] != '\0' && word[1] != '-')
            parse_letters(table, word, &words, config, trouble);
        else
            trouble_note(trouble, "unknown argument '%s' (--help lists the options)", word);
    }
}

static void print_default(const Option *option, const void *value)
{
    if ((option->kind == OPTION_COUNT || option->kind == OPTION_INT) && *(const int *)value != 0)
        printf(" [%d]", *(const int *)value);
    else if (option->kind == OPTION_SIZE && *(const int64_t *)value != 0)
        printf(" [%lld]", (long long)*(const int64_t *)value);
    else if (option->kind == OPTION_TEXT && *(const char *const *)value != NULL)
        printf(" [%s]", *(const char *const *)value);
}

static void print_help(const OptionTable *table, const void *defaults)
{
    fputs(table->usage, stdout);
    for (int i = 0; i < table->count; i++) {
        const Option *option = &table->options[i];
        char left[64];
        int used = option->letter != 0 ? snprintf(left, sizeof left, "-%c, ", option->letter) : 0;
        snprintf(left + used, sizeof left - (size_t)used, "--%s %s", option->name,
                 option->argument != NULL ? option->argument : "");
        printf("  %-28s %s", left, option->help);
        print_default(option, field_of(defaults, option));
        putchar('\n');
    }
    fputs(table->notes, stdout);
}

void options_help(const OptionTable *table, const void *defaults, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        print_help(table, defaults);
    MPI_Finalize();
    exit(EXIT_SUCCESS);
}

static void json_value(Json *json, const char *key, OptionKind kind, const void *value)
{
    switch (kind) {
    case OPTION_FLAG:
        json_truth(json, key, *(const bool *)value);
        break;
    case OPTION_COUNT:
    case OPTION_INT:
    case OPTION_TALLY:
        json_integer(json, key, *(const int *)value);
        break;
    case OPTION_SIZE:
        json_integer(json, key, *(const int64_t *)value);
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
    case OPTION_SET:
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
