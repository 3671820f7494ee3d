/* The timing of striped storage, as pure functions on plain data: no clock, no I/O, no memory of its own.
 *
 * Times are seconds on one clock that all clients share, sizes bytes. A transfer is cut at stripe boundaries
 * and into RPCs; every RPC queues at its target (FIFO), moves at the target's bandwidth, and its data passes
 * the client's link. Writes go to the client's cache and return when the dirty budget of that client and
 * target has room; reads wait for their data. Extent locks are granted and called back as Lustre's lock
 * server does: as large as no other client's lock forbids, and cancelled whole when another client needs any
 * part. */
#ifndef OST_MODEL_H
#define OST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define OST_MAX_TARGETS   64
#define OST_MAX_CLIENTS   64
#define OST_MAX_IN_FLIGHT 32
#define OST_MAX_QUEUED    64 /* RPCs of one client and target whose data is still dirty */

struct ost_params {
    int targets;
    double ost_bandwidth, link_bandwidth, memory_bandwidth; /* bytes per second */
    double ost_rpc, network, lock;                          /* seconds */
    int64_t rpc_size, dirty_per_target;
    int rpcs_in_flight;
    bool read_ahead, flush_on_close;
    int ranks_per_client;
    int stripe_count;
    int64_t stripe_size;
};

struct ost_layout {
    int64_t stripe_size;
    int stripe_count;
    int start; /* Target that holds stripe 0. */
};

/* A run of bytes of one file that lies on one target. */
struct ost_piece {
    int target;
    int64_t offset;        /* Offset in the file. */
    int64_t object_offset; /* Offset in the object on that target. */
    int64_t bytes;
};

/* The first piece of [offset, offset + bytes): at most up to the next stripe boundary. */
struct ost_piece ost_first_piece(const struct ost_layout *layout, int targets, int64_t offset, int64_t bytes);

/* A target's queue, and what it has done so far. */
struct ost_target {
    double free_at;
    double busy;
    int64_t bytes;
};

/* One client's traffic with one target. */
struct ost_session {
    double sent[OST_MAX_IN_FLIGHT]; /* Completion times of the latest RPCs, as a ring. */
    uint32_t rpcs;
    struct {
        double done;
        int64_t bytes;
    } dirty[OST_MAX_QUEUED]; /* a ring of RPCs not known to be on the target */
    uint32_t dirty_head, dirty_count;
    int64_t dirty_bytes;
    /* Object offset at which the latest RPC ends; a write there joins the RPC if it has room. */
    int64_t rpc_end;
    uint64_t rpc_object; /* Object of the latest RPC. */
    int64_t rpc_fill;    /* Bytes in the latest RPC. */
};

struct ost_client {
    double link_free_at;
    struct ost_session sessions[OST_MAX_TARGETS];
};

/* The state of one object, the part of a file that lies on one target: the locks and pending data of each
 * client. */
struct ost_object {
    uint64_t key;
    struct {
        int64_t begin, end; /* Range of the client's write lock; empty if end <= begin. */
        double clean_at;    /* Time at which all its written data is on the target. */
        int64_t read_end;   /* End of its latest read. */
    } clients[OST_MAX_CLIENTS];
    uint64_t handovers;
};

struct ost_state {
    struct ost_target targets[OST_MAX_TARGETS];
    struct ost_client clients[OST_MAX_CLIENTS];
};

/* Write one piece from `client` at time `now`. Returns when the write call would return; the data reaches the
 * target later (see ost_flushed). */
double ost_write(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                 int client, const struct ost_piece *piece, double now);

/* Read one piece; returns when the data is with the client. Another client's dirty data is flushed first. */
double ost_read(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                int client, const struct ost_piece *piece, double now);

/* When everything that `client` wrote to the object before `now` is on its target. */
double ost_flushed(const struct ost_object *object, int client, double now);

#endif
