#include "filter.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>

#include "../runtime/context.h"

struct filter iolens_filter;

enum { LONGEST = 1024 };

struct name_rule {
    regex_t pattern;
    uint32_t modules;
    bool includes;
};

/* Calls `take` for each part of `list` between characters of `separators`. */
static void each(const char *list, const char *separators, void (*take)(char *part, void *context),
                 void *context)
{
    char part[LONGEST];
    while (*list) {
        size_t length = strcspn(list, separators);
        if (length > 0 && length < sizeof part) {
            memcpy(part, list, length);
            part[length] = '\0';
            take(part, context);
        }
        list += length + (list[length] != '\0');
    }
}

static void add_module(char *name, void *context)
{
    uint32_t *mask = context;
    bool known = strcmp(name, "*") == 0;
    for (int m = 0; m < MODULE_COUNT; m++)
        if (strcmp(name, "*") == 0 || strcmp(name, modules[m]->name) == 0) {
            *mask |= 1u << m;
            known = true;
        }
    if (!known)
        iolens_say("no module is called %s; the name is ignored. MOD_ENABLE and MOD_DISABLE take names such "
                   "as POSIX, STDIO, MPI-IO",
                   name);
}

static uint32_t modules_named(const char *list)
{
    uint32_t mask = 0;
    each(list, ", ", add_module, &mask);
    return mask;
}

/* Cuts the last word off a text, with the blanks before it, and returns that word; NULL if there is only one
 * word. */
static char *cut_last_word(char *text)
{
    char *space = strrchr(text, ' ');
    char *tab = strrchr(text, '\t');
    char *at = space > tab ? space : tab;
    if (!at)
        return NULL;
    char *last = at + 1;
    while (at > text && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    *at = '\0';
    return last;
}

/* The parts of a rule: its target, modules and direction. */
struct making {
    struct filter *filter;
    uint32_t modules;
    bool includes;
};

static void add_pattern(char *text, void *context)
{
    struct making *making = context;
    struct filter *filter = making->filter;
    if (!filter->rule)
        filter->rule = arena_alloc(&iolens.scratch, FILTER_RULES * sizeof *filter->rule);
    if (!filter->rule || filter->rules == FILTER_RULES) {
        iolens_say("NAME_EXCLUDE and NAME_INCLUDE have room for %d patterns; the pattern %s is ignored",
                   FILTER_RULES, text);
        return;
    }
    struct name_rule *rule = &filter->rule[filter->rules];
    if (regcomp(&rule->pattern, text, REG_EXTENDED | REG_NOSUB) != 0) {
        iolens_say("%s is not a valid extended regular expression, so the pattern is ignored", text);
        return;
    }
    rule->modules = making->modules;
    rule->includes = making->includes;
    filter->rules++;
}

/* Reads a rule of the form "REGEX,... MODULES". MODULES is a list of modules, or * for all; without it, all
 * are meant. */
static void add_rule(char *text, void *context)
{
    struct making *making = context;
    const char *names = cut_last_word(text);
    making->modules = modules_named(names ? names : "*");
    each(text, ",", add_pattern, making);
}

/* Reads a line of a configuration file: a number of records, then the modules to which it applies. */
static void add_limit(char *text, void *context)
{
    struct filter *filter = context;
    const char *names = cut_last_word(text);
    uint32_t mask = modules_named(names ? names : "*");
    int64_t most;
    if (!settings_number(text, 1, INT64_MAX, &most)) {
        iolens_say("MAX_RECORDS %s: the number must be positive; the setting is ignored", text);
        return;
    }
    for (int m = 0; m < MODULE_COUNT; m++)
        if (mask >> m & 1)
            filter->most_records[m] = most;
}

void filter_read(struct filter *filter)
{
    const struct settings *s = &iolens.settings;
    struct making exclude = {.filter = filter}, include = {.filter = filter, .includes = true};
    *filter = (struct filter){.modules_off = 0};
    filter->modules_on = modules_named(s->mod_enable);
    filter->modules_off = modules_named(s->mod_disable) & ~filter->modules_on;
    each(s->max_records, ";", add_limit, filter);
    each(s->name_exclude, ";", add_rule, &exclude);
    each(s->name_include, ";", add_rule, &include);
}

/* Returns true if a name matches one of a list of wildcards. */
static bool is_listed(const char *name, const char *list)
{
    char part[LONGEST];
    while (*list) {
        size_t length = strcspn(list, ",;");
        if (length > 0 && length < sizeof part) {
            memcpy(part, list, length);
            part[length] = '\0';
            if (fnmatch(part, name, 0) == 0)
                return true;
        }
        list += length + (list[length] != '\0');
    }
    return false;
}

bool filter_app(const char *name)
{
    const struct settings *s = &iolens.settings;
    return is_listed(name, s->app_include) || (!is_listed(name, s->app_exclude) && !*s->app_include);
}

bool filter_rank(int rank)
{
    const struct settings *s = &iolens.settings;
    if (*s->rank_include && ranks_contain(s->rank_include, rank))
        return true;
    return !*s->rank_include && !(*s->rank_exclude && ranks_contain(s->rank_exclude, rank));
}

uint32_t filter_skip(const struct filter *filter, const char *path, bool *included)
{
    uint32_t skip = 0, keep = 0;
    for (int i = 0; i < filter->rules; i++) {
        const struct name_rule *rule = &filter->rule[i];
        if (regexec(&rule->pattern, path, 0, NULL, 0) != 0)
            continue;
        *(rule->includes ? &keep : &skip) |= rule->modules;
    }
    *included = keep != 0;
    return skip & ~keep;
}

bool filter_more(struct filter *filter, enum module_index module)
{
    return filter->most_records[module] == 0 ||
           atomic_fetch_add(&filter->records[module], 1) < filter->most_records[module];
}

/* Reads one item of a list of ranks and moves `*list` behind that item. */
static bool next_item(const char **list, int64_t *first, int64_t *last)
{
    char *end;
    *first = strtoll(*list, &end, 10);
    *last = end == *list ? INT64_MAX : *first;
    bool given = end != *list;
    if (*end == ':') {
        const char *second = end + 1;
        *last = strtoll(second, &end, 10);
        if (end == second)
            *last = INT64_MAX;
        given = true;
    }
    *list = *end == ',' ? end + 1 : end;
    return given && (*end == ',' || *end == '\0') && *first >= 0 && *last >= *first;
}

bool ranks_valid(const char *list)
{
    int64_t first, last;
    while (*list)
        if (!next_item(&list, &first, &last))
            return false;
    return true;
}

bool ranks_contain(const char *list, int64_t rank)
{
    int64_t first, last;
    while (*list && next_item(&list, &first, &last))
        if (first <= rank && rank <= last)
            return true;
    return false;
}
