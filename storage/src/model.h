/* The timing of striped storage, as pure functions on plain data: no clock, no I/O, no memory of its own.
 *
 * Times are seconds on one clock that all clients share, sizes bytes. A transfer is cut at stripe boundaries
 * and into RPCs; every RPC queues at its target (FIFO), moves at the target's bandwidth, and its data passes
 * the client's link. Writes go to the client's cache and return when the dirty budget of that client and
 * target has room; reads wait for their data. locks.c has the rules of extent locks, machine.c those of
 * servers, metadata and varying speeds. */
#ifndef OST_MODEL_H
#define OST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of the model. The emulation, which keeps its state in shared memory, uses the small limits; replays
 * are built with larger ones. */
#ifndef OST_MAX_TARGETS
#define OST_MAX_TARGETS 64
#define OST_MAX_CLIENTS 64
#endif
#define OST_MAX_IN_FLIGHT        32
#define OST_MAX_QUEUED           64 /* Number of dirty RPCs of one client and target that are counted one by one. */
#define OST_MAX_METADATA_THREADS 64
#define OST_MAX_PATHS            64 /* Largest number of files of one client with separate write paths. */

struct ost_params {
    int targets;
    /* Bandwidths of a target, a client's link and a client's memory, in bytes per second. */
    double ost_bandwidth, link_bandwidth, memory_bandwidth;
    double ost_rpc, network, lock; /* Seconds that a new RPC, the network (there and back) and a lock cost. */
    int64_t rpc_size, dirty_per_target;
    int rpcs_in_flight;
    bool read_ahead, flush_on_close;
    int ranks_per_client;
    int stripe_count;
    int64_t stripe_size;
    /* From here on: parameters of effects, each of which is off if its parameter is 0; params.def lists the
     * effects with their keys. */
    bool lock_growth, lock_ahead, rpc_departs;
    /* Limits set by the effects, in bytes per second. */
    double file_bandwidth, client_bandwidth, server_bandwidth;
    int64_t client_cache;
    int service_threads, targets_per_server, metadata_threads;
    double create, create_object, open, stat, unlink; /* Seconds that the metadata server works on each kind
                                                       * of request. */
    double stream_loss, fill, hour_spread, target_spread, slow_targets, stalled_runs,
        other_users; /* Sizes of effects, as numbers from 0 to 1. */
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

/* Returns the first piece of [offset, offset + bytes), which ends at the next stripe boundary at the
 * latest. */
struct ost_piece ost_first_piece(const struct ost_layout *layout, int targets, int64_t offset, int64_t bytes);

/* A target's queue, its work so far, and its speed in this run. */
struct ost_target {
    double free_at;
    double busy;
    int64_t bytes;
    double slower;    /* Part of the configured time by which each byte takes longer; 0 at the configured
                       * speed. */
    uint64_t streams; /* Bit set of the streams (client and object) among the latest RPCs. */
    int rpcs;         /* Number of RPCs since `streams` was last emptied. */
    int interleaved;  /* Number of different streams, less one, among the 64 RPCs that were counted last. */
};

/* One client's traffic with one target. */
struct ost_session {
    double sent[OST_MAX_IN_FLIGHT]; /* Completion times of the latest RPCs, as a ring. */
    uint32_t rpcs;
    struct {
        double done;
        int64_t bytes;
    } dirty[OST_MAX_QUEUED]; /* RPCs whose data may not be on the target yet, as a ring. */
    uint32_t dirty_head, dirty_count;
    int64_t dirty_bytes;
    /* Object offset at which the latest RPC ends; a write there joins the RPC if it has room. */
    int64_t rpc_end;
    uint64_t rpc_object; /* Object of the latest RPC. */
    int64_t rpc_fill;    /* Bytes in the latest RPC. */
};

struct ost_client {
    double link_free_at;
    double cache_free_at; /* Time at which the node has finished copying the data of its ranks. */
    struct {
        uint64_t file;
        double free_at;
    } paths[OST_MAX_PATHS]; /* Write path of each file, by a hash of the file: ranks of this node that write
                               one file follow one another. */
    struct ost_session sessions[OST_MAX_TARGETS];
};

/* One client's lock on one object, and the part of the object's data that the client has. */
struct ost_holder {
    int64_t begin, end;               /* Range of the write lock; empty if end <= begin. */
    int64_t wanted_begin, wanted_end; /* The request for which the lock was granted. */
    double granted_at; /* Time at which the lock is granted; it lies in the future while the client waits. */
    double clean_at;   /* Time at which everything that the client wrote to the object is on the target. */
    int64_t read_end;  /* Offset at which the latest read ended; a read that begins there is sequential. */
    int64_t cached_begin, cached_end; /* Part of the object that the client has in its memory. */
};

/* The state of one object, the part of a file that lies on one target. */
struct ost_object {
    /* Key of the object, 1 + target + file * OST_MAX_TARGETS: a different number for each target of each
     * file. */
    uint64_t key;
    struct ost_holder clients[OST_MAX_CLIENTS];
    int client_count; /* Clients with higher numbers have never touched the object. */
    int lock_count;   /* Number of locks that clients hold. */
    uint64_t handovers;
};

struct ost_state {
    struct ost_target targets[OST_MAX_TARGETS];
    double servers[OST_MAX_TARGETS];                   /* Time at which the link of each server is free. */
    double metadata_threads[OST_MAX_METADATA_THREADS]; /* Time at which each thread of the metadata server is
                                                          free. */
    uint64_t hour; /* Number of the hour, which determines how busy other users keep the targets. */
    bool varies;   /* True if some target may be slower than configured. */
    struct ost_client clients[OST_MAX_CLIENTS];
};

/* Draws the speeds of a run's targets: runs with the same `job` and `hour` have the same speeds. The state
 * must be zeroed. Without this call all targets have the configured speed. */
void ost_begin(const struct ost_params *params, struct ost_state *state, uint64_t job, uint64_t hour);

/* Returns the factor by which a transfer that begins at `now` takes longer on the target than configured. */
double ost_slowness(const struct ost_params *params, const struct ost_state *state, int target, bool reading,
                    double now);

enum ost_metadata { OST_CREATE, OST_OPEN, OST_STAT, OST_UNLINK };

/* Returns the moment at which the metadata server has answered a request for a file of `objects` objects. */
double ost_metadata(const struct ost_params *params, struct ost_state *state, enum ost_metadata request,
                    int objects, double now);

/* Returns the moment at which the client holds the write lock on [begin, end) of the object. */
double ost_lock(const struct ost_params *params, struct ost_object *object, int client, int64_t begin,
                int64_t end, double now);

/* Takes the write locks on any part of [begin, end) away from other clients, which flush first, so that
 * `client` may read. Returns the time of the last flush. */
double ost_lock_to_read(const struct ost_params *params, struct ost_object *object, int client, int64_t begin,
                        int64_t end, double now);

/* Writes one piece from `client` at time `now`. Returns the moment at which the write call returns; the data
 * reaches the target later (see ost_flushed). */
double ost_write(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                 int client, const struct ost_piece *piece, double now);

/* Reads one piece after flushing the dirty data of other clients. Returns the moment at which the data is
 * with the client. */
double ost_read(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                int client, const struct ost_piece *piece, double now);

/* Returns the moment at which everything that `client` wrote to the object before `now` is on its target. */
double ost_flushed(const struct ost_object *object, int client, double now);

#endif
