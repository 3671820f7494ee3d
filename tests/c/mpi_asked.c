/* Asks in the usual ways which MPI functions exist, and prints a line for each that does. With two words,
 * first loads the library of mpi_part.c: with the word `symbols`, it looks up the library's function; with
 * the word `handle`, it asks the MPI library at that path for its functions, as interpreters do. mpi_asked |
 * mpi_asked symbols LIBRARY FILE | mpi_asked handle LIBRARY */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Weak references: the address of a missing function is NULL. */
#define NAME(name)                                                                                           \
    extern int MPI_##name() __attribute__((weak));                                                           \
    extern int PMPI_##name() __attribute__((weak));
#include "../../profiler/src/dispatch/names.h"
#undef NAME

/* The same references in a table, which the loader fills when the program starts. */
#define NAME(name) {"MPI_" #name, MPI_##name}, {"PMPI_" #name, PMPI_##name},
static struct {
    const char *name;
    int (*volatile function)();
} table[] = {
#include "../../profiler/src/dispatch/names.h"
};
#undef NAME

#define NAME(name)                                                                                           \
    if (MPI_##name)                                                                                          \
        puts("reference MPI_" #name);                                                                        \
    if (PMPI_##name)                                                                                         \
        puts("reference PMPI_" #name);

static void ask_all(void)
{
#include "../../profiler/src/dispatch/names.h"
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (table[i].function)
            printf("table %s\n", table[i].name);
        if (dlsym(RTLD_DEFAULT, table[i].name))
            printf("symbol %s\n", table[i].name);
    }
    printf("%d\n", dlsym(RTLD_DEFAULT, "MPI_Initialized") != NULL);
}

static int use(const char *library, const char *file)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int (*part)(const char *) = handle ? (int (*)(const char *))dlsym(handle, "part") : NULL;
    if (!part)
        fprintf(stderr, "%s\n", dlerror());
    return part ? part(file) : 1;
}

static int ask_library(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; handle && i < sizeof table / sizeof *table; i++)
        if (dlsym(handle, table[i].name))
            printf("handle %s\n", table[i].name);
    int (*init)(void *, void *) = handle ? (int (*)(void *, void *))dlsym(handle, "MPI_Init") : NULL;
    int (*finalize)(void) = handle ? (int (*)(void))dlsym(handle, "MPI_Finalize") : NULL;
    return init && finalize ? init(NULL, NULL) | finalize() : 1;
}

int main(int count, char **words)
{
    if (count == 4)
        return use(words[2], words[3]);
    if (count == 3)
        return ask_library(words[2]);
#ifdef WITH_MPI
    /* A function that is not in the list: the linker drops a library to which all references are weak. */
    extern int MPI_Initialized(int *flag);
    int begun;
    MPI_Initialized(&begun);
    MPI_Init(&count, &words);
#endif
    ask_all();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
