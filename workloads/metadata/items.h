/* The files of a run, and what is done with one of them. */
#ifndef METADATA_ITEMS_H
#define METADATA_ITEMS_H

#include "config.h"
#include "fail.h"

typedef struct Items {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    unsigned char *content, *seen; /* of one file; room to read one */
} Items;

void items_make(Items *items, const Config *config, MPI_Comm comm);
void items_free(Items *items);

/* One item of a rank; each notes what is wrong, with the path. */
void item_create(const Items *items, int owner, int item, Trouble *trouble);
void item_stat(const Items *items, int owner, int item, Trouble *trouble);
void item_read(const Items *items, int owner, int item, Trouble *trouble);
void item_remove(const Items *items, int owner, int item, Trouble *trouble);

/* The folders of all ranks, or the one of all; an existing one is trouble. Collective: all ranks have the
 * same trouble afterwards. */
void folders_make(const Items *items, Trouble *trouble);
void folders_remove(const Items *items, Trouble *trouble);

/* Removes what is there of this rank's own items, then the folders: after trouble. Collective. */
void items_clear(const Items *items);

#endif
