/* Reads a spool file into the context of the process that wrote it, as far as a log needs it. */
#ifndef IOLENS_RECOVER_H
#define IOLENS_RECOVER_H

#include "../adapter.h"
#include "../spool/spool.h"

/* Reads and checks the header of a spool. Returns the reason why it is invalid, or NULL; `header` receives
 * the part that could be read. */
const char *load_fault(const char *path, struct spool_header *header);

/* Does the same as load_fault, but prints the reason on standard error, and returns false if the header is
 * invalid. */
bool load_header(const char *path, struct spool_header *header);

/* Returns a text that the process kept in its header; "" if there is none. */
const char *load_text(const struct spool_header *header, const char *text);

/* Maps the spool privately at its own address and makes `iolens` the context of its process; changes stay
 * in the calling process. Damaged files and states are left out and counted in registry.partial. `running`
 * is true if the process continues on this node; its later changes are not visible. */
bool load_spool(const char *path, bool running);

/* Makes `iolens` the context of a rank that left no spool: it has no files, and its other values come from
 * the given header of another rank. */
void load_stand_in(const struct spool_header *header);

struct merge_options {
    const char *folder; /* Folder of the log; NULL for the folder that the job would have used. */
    const char *why;    /* Cause of the job's end; NULL if unknown. */
    bool snapshot;      /* True if the job still runs. */
};

/* Makes the log and prints its name. Returns an exit code: 0, or 1 if there is no log. */
int merge_spools(char *const *paths, int count, const struct merge_options *options);

/* A transport between processes of one machine: each rank has a socket to a hub, which performs the
 * collective operations. Ranks without a spool take no part. */

/* Returns the transport over `socket` for rank `rank` of `size`. */
const struct iolens_transport *hub_join(int socket, int rank, int size, const char *mpi_version);

/* Serves `count` ranks as the hub, in ascending order and the first of them 0, until all have closed their
 * sockets. Returns the index of the first rank that left too early, or -1 if all ended well. */
int hub_serve(const int *sockets, const int *ranks, int count, int size);

enum wire_call { WIRE_BARRIER, WIRE_BCAST, WIRE_ALLREDUCE, WIRE_EXSCAN, WIRE_GATHER, WIRE_REDUCE };

struct wire {
    enum wire_call call;
    enum iolens_type type;
    enum iolens_op op;
    size_t item_bytes,
        items; /* Numbers of bytes and items that each rank sends; in a broadcast only rank 0 sends. */
    iolens_combine_fn *combine;
};

bool wire_send(int socket, const void *bytes, size_t count);
bool wire_receive(int socket, void *bytes, size_t count);

#endif
