/* Open MPI's parameters, as ompi_info prints them. MPI_T would load every component that is installed (53
 * more libraries, 0.2 s), and does not tell who set a value. */
#include <mpi.h>

#ifdef OPEN_MPI

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "handles.h"

enum { PARSABLE = 1, MOST_VARIABLES = 1 << 16, WORD_BYTES = 64, LIST_BYTES = 128 };

typedef int count_function(void);
typedef int dump_function(int variable, char ***lines, int form);

/* Open MPI's groups of components (frameworks) that transport messages or implement collective calls. */
static const char *const FRAMEWORKS[] = {"pml", "mtl", "btl", "smsc", "osc", "coll", "op"};
enum { FRAMEWORK_COUNT = sizeof FRAMEWORKS / sizeof *FRAMEWORKS };

/* Prefixes of the names of MCA parameters that the launcher sets, not the user. */
static const char *const OTHERS[] = {
    "orte", "ess", "pmix", "prte", "plm", "odls", "oob", "rmaps", "mpi_oversubscribe"};

/* A parameter, read from its lines `mca:FRAMEWORK:COMPONENT:param:NAME:what:text`. */
struct variable {
    char framework[WORD_BYTES], component[WORD_BYTES], name[WORD_BYTES];
    char value[LIST_BYTES], source[WORD_BYTES];
    bool another; /* True once a line of another parameter was read. */
};

/* Returns the next word of a line and moves behind it. */
static const char *take_word(const char *line, char *word)
{
    size_t length = strcspn(line, ":");
    snprintf(word, WORD_BYTES, "%.*s", (int)length, line);
    return line[length] ? line + length + 1 : line + length;
}

static void take_line(const char *line, struct variable *variable)
{
    char word[WORD_BYTES];
    line = take_word(line, word);
    line = take_word(line, variable->framework);
    line = take_word(line, variable->component);
    line = take_word(line, word);
    line = take_word(line, variable->name);
    line = take_word(line, word);
    if (strcmp(word, "value") == 0)
        snprintf(variable->value, sizeof variable->value, "%s", line);
    else if (strcmp(word, "source") == 0)
        snprintf(variable->source, sizeof variable->source, "%.*s", (int)strcspn(line, "("), line);
    else if (strcmp(word, "synonym_of") == 0)
        variable->another = true;
}

/* Returns false if there is no parameter of this number, or if its name has a colon. */
static bool read_variable(dump_function *dump, int number, struct variable *variable)
{
    char **lines = NULL;
    *variable = (struct variable){0};
    if (dump(number, &lines, PARSABLE) != 0 || !lines)
        return false;
    for (char **line = lines; *line; line++) {
        take_line(*line, variable);
        free(*line);
    }
    free(lines);
    size_t length = strlen(variable->source);
    if (length > 0 && variable->source[length - 1] == ' ')
        variable->source[length - 1] = '\0';
    return *variable->source && !variable->another;
}

static bool begins_with(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), ending = strlen(end);
    return length >= ending && strcmp(text + length - ending, end) == 0;
}

static bool has_component(const char *list, const char *component)
{
    size_t length = strlen(component);
    for (const char *at = strstr(list, component); at; at = strstr(at + 1, component))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Adds the component of a variable to the list of its framework. Only components that are open have
 * variables, so the list contains the open components. */
static void add_component(char lists[FRAMEWORK_COUNT][LIST_BYTES], const struct variable *variable)
{
    for (int i = 0; i < FRAMEWORK_COUNT && strcmp(variable->component, "base") != 0; i++) {
        size_t used = strlen(lists[i]);
        if (strcmp(variable->framework, FRAMEWORKS[i]) == 0 && !has_component(lists[i], variable->component))
            snprintf(lists[i] + used, LIST_BYTES - used, "%s%s", used ? "," : "", variable->component);
    }
}

/* Reports the open components. Returns true if messages go through btl components, which have eager
 * limits. */
static bool tell_components(dump_function *dump, int variables)
{
    char lists[FRAMEWORK_COUNT][LIST_BYTES] = {0};
    struct variable variable;
    for (int i = 0; i < variables; i++)
        if (read_variable(dump, i, &variable))
            add_component(lists, &variable);
    for (int i = 0; i < FRAMEWORK_COUNT; i++)
        if (*lists[i])
            iolens_mpi_setting("component", FRAMEWORKS[i], lists[i], "");
    return strcmp(lists[0], "ob1") == 0;
}

static void tell(const struct variable *variable, bool limits)
{
    bool limit = limits && strcmp(variable->framework, "btl") == 0 &&
                 ends_with(variable->name, "_eager_limit") && !ends_with(variable->name, "_rndv_eager_limit");
    bool own = strcmp(variable->source, "default") == 0;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        own = own || begins_with(variable->name, OTHERS[i]);
    if (limit || !own)
        iolens_mpi_setting(limit ? "eager limit" : "parameter", variable->name, variable->value,
                           variable->source);
}

/* Reports the components and parameters of Open MPI, by functions of its MCA that all releases from 1.7 on
 * have. */
void parameters_of_library(void)
{
    count_function *count = (count_function *)mpi_symbol("mca_base_var_get_count");
    dump_function *dump = (dump_function *)mpi_symbol("mca_base_var_dump");
    int variables = count && dump ? count() : 0;
    struct variable variable;
    if (variables > MOST_VARIABLES)
        return;
    bool limits = tell_components(dump, variables);
    for (int i = 0; i < variables; i++)
        if (read_variable(dump, i, &variable))
            tell(&variable, limits);
}

#endif
