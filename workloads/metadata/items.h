/* The files of a run, and the operations on one of them. */
#ifndef METADATA_ITEMS_H
#define METADATA_ITEMS_H

#include "config.h"
#include "fail.h"

typedef struct Items {
    const Config *config;
    MPI_Comm comm;
    int rank, ranks;
    unsigned char *content, *seen; /* `content`: the bytes of one file to write. `seen`: room for the bytes of
                                    * a file that is read. */
} Items;

void items_make(Items *items, const Config *config, MPI_Comm comm);
void items_free(Items *items);

/* Operations on file number `item` of the rank `owner`. An error is noted together with the path. */
void item_create(const Items *items, int owner, int item, Trouble *trouble);
void item_stat(const Items *items, int owner, int item, Trouble *trouble);
void item_read(const Items *items, int owner, int item, Trouble *trouble);
void item_remove(const Items *items, int owner, int item, Trouble *trouble);

/* Makes the folder of each rank, or the shared folder; an existing folder is an error. Collective: all ranks
 * get the same error. */
void folders_make(const Items *items, Trouble *trouble);
void folders_remove(const Items *items, Trouble *trouble);

/* After an error, removes this rank's remaining items and then the folders. Collective. */
void items_clear(const Items *items);

#endif
