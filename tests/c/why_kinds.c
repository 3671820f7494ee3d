/* Runs one pattern of why_kinds.h on four ranks: `why_kinds PATTERN`. Each rank prints its seconds in the
 * pattern. `why_kinds` alone lists the patterns that this MPI library has. */
#include "why_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kind_rank;
char kind_sent[RANKS * LARGE], kind_received[RANKS * LARGE];

static const struct why_kind *const families[] = {posted_kinds,     persistent_kinds, group_kinds,
                                                  process_kinds,    window_kinds,     message_kinds,
                                                  collective_kinds, outside_kinds};

static void list(void)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const struct why_kind *each = families[i]; each->name; each++)
            puts(each->name);
}

static const struct why_kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        for (const struct why_kind *each = families[i]; each->name; each++)
            if (strcmp(each->name, name) == 0)
                return each;
    fprintf(stderr, "no pattern %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        list();
        return 0;
    }
    if (kind_of_child(argc, argv))
        return 0;
    const struct why_kind *kind = kind_named(argv[1]);
    int level;
    MPI_Init_thread(&argc, &argv,
                    strncmp(argv[1], "thread", 6) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &kind_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    kind->run();
    printf("seconds %.6f\n", MPI_Wtime() - began);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
