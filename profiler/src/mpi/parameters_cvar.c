/* Control variables of MPI_T: those set by the environment, and eager limits. Defaults are left out. */
#include <mpi.h>

#ifndef OPEN_MPI

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "handles.h"

enum { NAME_BYTES = 256, VALUE_BYTES = 4096, VERSION_BYTES = 16384, DEVICE_BYTES = 64 };

/* Functions of the MPI library; it may lack any of them, so they are looked up when the program runs. */
static struct {
#define CALL(name) __typeof__(&MPI_T_##name) name;
#include "tool_calls.def"
#undef CALL
} tool;

static bool load_tool(void)
{
    bool complete = true;
#define CALL(name)                                                                                           \
    tool.name = (__typeof__(tool.name))mpi_symbol("MPI_T_" #name);                                           \
    complete = complete && tool.name;
#include "tool_calls.def"
#undef CALL
    return complete;
}

/* A control variable that belongs to no object. */
struct variable {
    char name[NAME_BYTES], value[VALUE_BYTES];
    MPI_Datatype type;
};

static bool print_value(struct variable *variable, MPI_T_cvar_handle handle, int count)
{
    union {
        char text[VALUE_BYTES];
        int whole;
        unsigned natural;
        unsigned long length;
        unsigned long long wide;
        MPI_Count counted;
        double real;
    } value = {0};
    bool text = variable->type == MPI_CHAR;
    if (count <= 0 || (size_t)count > (text ? sizeof value.text - 1 : sizeof value / sizeof(double)) ||
        tool.cvar_read(handle, &value) != MPI_SUCCESS)
        return false;
    char *to = variable->value;
    if (text)
        snprintf(to, VALUE_BYTES, "%s", value.text);
    else if (variable->type == MPI_INT)
        snprintf(to, VALUE_BYTES, "%d", value.whole);
    else if (variable->type == MPI_UNSIGNED)
        snprintf(to, VALUE_BYTES, "%u", value.natural);
    else if (variable->type == MPI_UNSIGNED_LONG)
        snprintf(to, VALUE_BYTES, "%lu", value.length);
    else if (variable->type == MPI_UNSIGNED_LONG_LONG)
        snprintf(to, VALUE_BYTES, "%llu", value.wide);
    else if (variable->type == MPI_COUNT)
        snprintf(to, VALUE_BYTES, "%lld", (long long)value.counted);
    else if (variable->type == MPI_DOUBLE)
        snprintf(to, VALUE_BYTES, "%g", value.real);
    else
        return false;
    return true;
}

static bool read_value(int number, struct variable *variable)
{
    MPI_T_cvar_handle handle;
    int count = 0;
    if (tool.cvar_handle_alloc(number, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool done = print_value(variable, handle, count);
    tool.cvar_handle_free(&handle);
    return done;
}

/* Writes to `form` the variable's name that the environment has; returns false if it has none. */
static bool in_environment(const char *name, char form[NAME_BYTES])
{
    static const char *const prefixes[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};
    const char *bare = strncmp(name, "MPIR_CVAR_", 10) == 0 ? name + 10 : NULL;
    snprintf(form, NAME_BYTES, "%s", name);
    for (size_t i = 0; bare && !getenv(form) && i < sizeof prefixes / sizeof *prefixes; i++)
        snprintf(form, NAME_BYTES, "%s%s", prefixes[i], bare);
    return getenv(form) != NULL;
}

/* Copies the device of MPICH from its version text, such as "ch4:ofi", into `device`; empty if absent. */
static void find_device(char *device)
{
    static const char LABEL[] = "Device:";
    char *version = heap_take(VERSION_BYTES);
    int length = 0;
    *device = '\0';
    if (version && pmpi.Get_library_version(version, &length) == MPI_SUCCESS) {
        const char *found = strstr(version, LABEL);
        found = found ? found + strlen(LABEL) : "";
        found += strspn(found, " \t");
        snprintf(device, DEVICE_BYTES, "%.*s", (int)strcspn(found, " \t\r\n"), found);
    }
    heap_give_back(version);
}

/* Returns true if the variable is the largest size of a message that is sent eagerly, for the device in use:
 * variables of all devices exist. */
static bool is_eager_limit(const char *name, const char *device)
{
    static const char *const limits[] = {"EAGER_MAX", "EAGER_LIMIT", "EAGER_THRESHOLD", "MAX_EAGER"};
    static const struct {
        const char *name, *device;
    } of[] = {{"CH3", "ch3"}, {"NEMESIS", "ch3"}, {"OFI", "ofi"}, {"UCX", "ucx"}};
    bool found = false;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        found = found || strstr(name, limits[i]);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        found = found && !(*device && strstr(name, of[i].name) && !strstr(device, of[i].device));
    return found && !strstr(name, "READY");
}

static void tell(int number, const char *device)
{
    struct variable variable = {0};
    char text[1] = "", form[NAME_BYTES];
    int name_bytes = NAME_BYTES, text_bytes = sizeof text, verbosity, bind, scope;
    MPI_T_enum items;
    if (tool.cvar_get_info(number, variable.name, &name_bytes, &verbosity, &variable.type, &items, text,
                           &text_bytes, &bind, &scope) != MPI_SUCCESS ||
        bind != MPI_T_BIND_NO_OBJECT)
        return;
    bool set = in_environment(variable.name, form), limit = is_eager_limit(variable.name, device);
    /* Intel MPI has variables that are always empty; their values are then read from the environment. */
    if ((set || limit) && read_value(number, &variable) && *variable.value)
        iolens_mpi_setting(limit ? "eager limit" : "parameter", set ? form : variable.name, variable.value,
                           set ? "environment" : "");
}

void parameters_of_library(void)
{
    char device[DEVICE_BYTES];
    int level, variables = 0;
    find_device(device);
    if (*device)
        iolens_mpi_setting("component", "device", device, "");
    if (!load_tool() || tool.init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
        return;
    if (tool.cvar_get_num(&variables) != MPI_SUCCESS)
        variables = 0;
    for (int i = 0; i < variables; i++)
        tell(i, device);
    tool.finalize();
}

#endif
