/* Finds programs into which this library cannot be loaded, and the environment that they must get: the loader
 * of another C library stops at a preloaded library that it cannot link. */
#ifndef IOLENS_FOREIGN_PROGRAM_H
#define IOLENS_FOREIGN_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if this environment preloads the profiler and `path` is a program of musl or of another kind
 * of processor, or a script for one. Reads the file. Changes no memory of the process, because the caller may
 * be a child of vfork. */
bool foreign_program(const char *path, char *const environment[]);

/* Finds the file that a program's name means, by PATH, as execvp does; returns false if there is none. */
bool foreign_find(char *path, size_t size, const char *name);

/* Writes a path to the file that execveat means; returns false if there is none. */
bool foreign_below(char *path, size_t size, int folder, const char *name);

/* Returns the number of variables, the closing NULL included. */
size_t foreign_count(char *const environment[]);

/* Copies the environment without the profiler's libraries. `preload` has room for the value of LD_PRELOAD in
 * it (foreign_preload_bytes). */
size_t foreign_preload_bytes(char *const environment[]);
void foreign_environment(char **copy, char *preload, char *const environment[]);

/* Says, once in a process and its forked children, that a program is not recorded. */
void foreign_say(const char *path);

#endif
