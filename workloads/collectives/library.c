#include <fnmatch.h>

#include "run.h"

/* Shell patterns of the variables to read: Open MPI's names, then MPICH's. */
static const char *const WANTED[] = {
    "btl_*_eager_limit",
    "coll_*_priority",
    "coll_tuned_use_dynamic_rules",
    "coll_tuned_*_algorithm",
    "MPIR_CVAR_*EAGER*",
    "MPIR_CVAR_ENABLE_SMP_COLLECTIVES",
    "MPIR_CVAR_ENABLE_SMP_*",
    "MPIR_CVAR_*_INTRA_ALGORITHM",
};

static bool is_wanted(const char *name)
{
    for (size_t i = 0; i < sizeof WANTED / sizeof WANTED[0]; i++)
        if (fnmatch(WANTED[i], name, 0) == 0)
            return true;
    return false;
}

/* Room for a value of any type that MPI's tools interface has. */
typedef union Value {
    bool truth;
    int number;
    unsigned natural;
    unsigned long large;
    unsigned long long larger;
    double real;
    char text[VARIABLE_TEXT];
} Value;

static bool show(MPI_Datatype type, const Value *value, char *text, size_t room)
{
    if (type == MPI_C_BOOL)
        snprintf(text, room, "%d", value->truth);
    else if (type == MPI_INT)
        snprintf(text, room, "%d", value->number);
    else if (type == MPI_UNSIGNED)
        snprintf(text, room, "%u", value->natural);
    else if (type == MPI_UNSIGNED_LONG)
        snprintf(text, room, "%lu", value->large);
    else if (type == MPI_UNSIGNED_LONG_LONG)
        snprintf(text, room, "%llu", value->larger);
    else if (type == MPI_DOUBLE)
        snprintf(text, room, "%g", value->real);
    else if (type == MPI_CHAR)
        snprintf(text, room, "%s", value->text);
    else
        return false;
    return true;
}

static bool read_value(int index, MPI_Datatype type, char *text, size_t room)
{
    MPI_T_cvar_handle handle;
    Value value = {0};
    int count;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool fits = type == MPI_CHAR ? count < VARIABLE_TEXT : count == 1;
    bool known = fits && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS && show(type, &value, text, room);
    MPI_T_cvar_handle_free(&handle);
    return known;
}

int library_variables(Variable *list, int room)
{
    int provided, total = 0, found = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return 0;
    MPI_T_cvar_get_num(&total);
    for (int i = 0; i < total && found < room; i++) {
        Variable *variable = &list[found];
        char about[2];
        int name_length = VARIABLE_TEXT, about_length = sizeof about, verbosity, binding, scope;
        MPI_Datatype type;
        MPI_T_enum words;
        if (MPI_T_cvar_get_info(i, variable->name, &name_length, &verbosity, &type, &words, about,
                                &about_length, &binding, &scope) == MPI_SUCCESS &&
            binding == MPI_T_BIND_NO_OBJECT && is_wanted(variable->name))
            found += read_value(i, type, variable->value, VARIABLE_TEXT);
    }
    MPI_T_finalize();
    return found;
}
