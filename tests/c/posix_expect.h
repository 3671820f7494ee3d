/* Helps programs that make known calls to print the values that the log must have: a line "FILE path", then
 * "COUNTER value" for every integer counter of that file's record that is not 0. */
#ifndef POSIX_EXPECT_H
#define POSIX_EXPECT_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

/* Ends the program with the place and the reason if the step fails. */
#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            dprintf(2, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, strerror(errno));                  \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* Prints an expected value by dprintf, which no profiler counts. */
#define EXPECT(counter, value) dprintf(1, "%s %lld\n", counter, (long long)(value))

/* Begins the expectations of a file below the current folder. */
static inline void expect_file(const char *name)
{
    char folder[4096];
    MUST(getcwd(folder, sizeof folder));
    dprintf(1, "FILE %s/%s\n", folder, name);
}

/* Prints the expectations that hold for the POSIX record of every real file. */
static inline void expect_posix_file(const char *name)
{
    struct statfs info;
    expect_file(name);
    MUST(statfs(".", &info) == 0);
    EXPECT("POSIX_MEM_ALIGNMENT", 8);
    EXPECT("POSIX_FILE_ALIGNMENT", info.f_bsize);
}

#endif
