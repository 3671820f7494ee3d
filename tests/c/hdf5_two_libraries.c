/* Opens a file with each of two HDF5 libraries, which the given plugins were linked with, and closes the
 * first one only. Compiled with -DPLUGIN, this file is one of the plugins. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

enum { TRUNCATE = 2, DEFAULT = 0 };

#ifdef PLUGIN

long H5Fcreate(const char *name, unsigned flags, long creation, long access);
int H5Fclose(long file);

long create(const char *name) { return H5Fcreate(name, TRUNCATE, DEFAULT, DEFAULT); }
int end(long file) { return H5Fclose(file); }

#else

static void *function(const char *plugin, const char *name)
{
    void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL), *found = handle ? dlsym(handle, name) : NULL;
    if (!found)
        abort();
    return found;
}

/* Arguments: the first plugin and its file, the second plugin and its file. */
int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    long (*create[])(const char *) = {function(argv[1], "create"), function(argv[3], "create")};
    int (*end)(long) = function(argv[1], "end");
    long first = create[0](argv[2]), second = create[1](argv[4]);
    return first < 0 || second < 0 || end(first) < 0;
}

#endif
