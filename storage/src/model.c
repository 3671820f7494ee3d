#include "model.h"

static double later(double a, double b) { return a > b ? a : b; }

struct ost_piece ost_first_piece(const struct ost_layout *layout, int targets, int64_t offset, int64_t bytes)
{
    int64_t stripe = offset / layout->stripe_size;
    int64_t within = offset % layout->stripe_size;
    int64_t room = layout->stripe_size - within;
    return (struct ost_piece){
        .target = (int)((layout->start + stripe % layout->stripe_count) % targets),
        .offset = offset,
        .object_offset = stripe / layout->stripe_count * layout->stripe_size + within,
        .bytes = bytes < room ? bytes : room,
    };
}

/* Removes data that has reached the target by `now` from the account of dirty data. */
static void settle(struct ost_session *session, double now)
{
    while (session->dirty_count > 0 && session->dirty[session->dirty_head].done <= now) {
        session->dirty_bytes -= session->dirty[session->dirty_head].bytes;
        session->dirty_head = (session->dirty_head + 1) % OST_MAX_QUEUED;
        session->dirty_count--;
    }
}

/* Returns the earliest time from `now` on at which `bytes` more fit into the dirty budget. */
static double room_for(const struct ost_params *params, struct ost_session *session, int64_t bytes,
                       double now)
{
    settle(session, now);
    while (session->dirty_count > 0 && session->dirty_bytes + bytes > params->dirty_per_target) {
        now = later(now, session->dirty[session->dirty_head].done);
        settle(session, now);
    }
    return now;
}

/* Adds data that reaches the target at `done` to the account of dirty data; data that joined the latest RPC
 * becomes part of it. If the account is full, RPCs are counted together, and stay dirty until the last of
 * them is on the target. */
static void soil(struct ost_session *session, int64_t bytes, bool joined, double done)
{
    uint32_t slot = (session->dirty_head + session->dirty_count - 1) % OST_MAX_QUEUED;
    if ((!joined && session->dirty_count < OST_MAX_QUEUED) || session->dirty_count == 0) {
        slot = (session->dirty_head + session->dirty_count++) % OST_MAX_QUEUED;
        session->dirty[slot].bytes = 0;
    }
    session->dirty[slot].done = done;
    session->dirty[slot].bytes += bytes;
    session->dirty_bytes += bytes;
}

/* One RPC, or further bytes for an RPC that has not left yet. */
struct rpc {
    int client, target;
    uint64_t object;
    int64_t bytes;
    bool is_new, reading;
    double network;
};

/* Counts the different streams among the target's latest RPCs, because its disks must move between
 * streams. */
static void count_streams(struct ost_target *server, const struct rpc *rpc)
{
    uint64_t stream = (rpc->object * OST_MAX_CLIENTS + (uint64_t)rpc->client) * 0x9e3779b97f4a7c15u;
    server->streams |= UINT64_C(1) << (stream >> 58);
    if (++server->rpcs < 64)
        return;
    server->interleaved = __builtin_popcountll(server->streams) - 1;
    server->streams = 0;
    server->rpcs = 0;
}

/* Queues bytes behind those that already wait for a link; returns the moment at which the link has carried
 * all of them. */
static double through(double *free_at, int64_t bytes, double bandwidth, double now)
{
    *free_at = later(*free_at, now) + (double)bytes / bandwidth;
    return *free_at;
}

/* Queues the bytes at their target; returns the time at which the target has moved them and answered. */
static double transfer(const struct ost_params *params, struct ost_state *state, const struct rpc *rpc,
                       double now)
{
    struct ost_client *sender = &state->clients[rpc->client];
    struct ost_session *session = &sender->sessions[rpc->target];
    struct ost_target *server = &state->targets[rpc->target];
    double begin = now;
    if (rpc->is_new && session->rpcs >= (uint32_t)params->rpcs_in_flight)
        begin = later(begin,
                      session->sent[(session->rpcs - (uint32_t)params->rpcs_in_flight) % OST_MAX_IN_FLIGHT]);
    begin = later(begin, sender->link_free_at);
    double carried = through(&sender->link_free_at, rpc->bytes, params->link_bandwidth, begin);
    if (params->targets_per_server > 0)
        carried = later(carried, through(&state->servers[rpc->target / params->targets_per_server],
                                         rpc->bytes, params->server_bandwidth, begin));
    double start = later(begin + rpc->network / 2, server->free_at);
    double work = rpc->is_new ? params->ost_rpc : 0, waits = 0;
    if (params->service_threads > 0) {
        waits = work - work / params->service_threads;
        work -= waits;
    }
    if (params->stream_loss > 0 && rpc->is_new)
        count_streams(server, rpc);
    double slowness = state->varies ? ost_slowness(params, state, rpc->target, rpc->reading, start) : 1;
    double service = work + (double)rpc->bytes / params->ost_bandwidth * slowness;
    server->free_at = start + service;
    server->busy += service;
    server->bytes += rpc->bytes;
    double done = later(server->free_at + waits, carried) + rpc->network / 2;
    session->rpcs += rpc->is_new;
    session->sent[(session->rpcs - 1) % OST_MAX_IN_FLIGHT] = done;
    return done;
}

/* Lets bytes pass through the client's memory. All ranks of the node share its speed, and ranks that write to
 * the same file follow one another. Returns the moment at which all bytes have passed. */
static double copy(const struct ost_params *params, struct ost_client *node, const struct ost_object *object,
                   int64_t bytes, bool reading, double now)
{
    if (params->client_bandwidth > 0)
        now = through(&node->cache_free_at, bytes, params->client_bandwidth, now);
    if (params->file_bandwidth <= 0 || reading)
        return now;
    uint64_t file = (object->key - 1) / OST_MAX_TARGETS;
    uint64_t path = (file * 0x9e3779b97f4a7c15u >> 32) % OST_MAX_PATHS;
    if (node->paths[path].file != file)
        node->paths[path].free_at = 0;
    node->paths[path].file = file;
    return through(&node->paths[path].free_at, bytes, params->file_bandwidth, now);
}

/* Notes that the client has [begin, end) of the object in its memory; the model keeps one range of each
 * object there. */
static void cache(const struct ost_params *params, struct ost_holder *holder, int64_t begin, int64_t end)
{
    if (begin < holder->cached_begin || begin > holder->cached_end)
        holder->cached_begin = holder->cached_end = begin;
    holder->cached_end = end > holder->cached_end ? end : holder->cached_end;
    if (holder->cached_end - holder->cached_begin > params->client_cache)
        holder->cached_begin = holder->cached_end - params->client_cache;
}

double ost_write(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                 int client, const struct ost_piece *piece, double now)
{
    struct ost_session *session = &state->clients[client].sessions[piece->target];
    struct ost_holder *holder = &object->clients[client];
    int64_t done = 0, end = piece->object_offset + piece->bytes;
    bool shares_copy = params->client_bandwidth > 0 || params->file_bandwidth > 0;
    if (piece->object_offset < holder->begin || end > holder->end || holder->granted_at > now)
        now = ost_lock(params, object, client, piece->object_offset, end, now);
    while (done < piece->bytes) {
        int64_t at = piece->object_offset + done;
        int64_t left = piece->bytes - done;
        bool joins = session->rpc_object == object->key && session->rpc_end == at &&
                     session->rpc_fill < params->rpc_size && session->rpc_fill > 0 &&
                     !(params->rpc_departs && holder->clean_at <= now);
        int64_t room = joins ? params->rpc_size - session->rpc_fill : params->rpc_size;
        int64_t bytes = left < room ? left : room;
        if (shares_copy)
            now = copy(params, &state->clients[client], object, bytes, false, now);
        now = room_for(params, session, bytes, now);
        struct rpc rpc = {client, piece->target, object->key, bytes, !joins, false, params->network};
        double on_target = transfer(params, state, &rpc, now);
        soil(session, bytes, joins, on_target);
        holder->clean_at = on_target;
        session->rpc_object = object->key;
        session->rpc_fill = (joins ? session->rpc_fill : 0) + bytes;
        session->rpc_end = at + bytes;
        now += (double)bytes / params->memory_bandwidth;
        done += bytes;
    }
    if (params->client_cache > 0)
        cache(params, holder, piece->object_offset, end);
    return now;
}

double ost_read(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                int client, const struct ost_piece *piece, double now)
{
    struct ost_holder *holder = &object->clients[client];
    int64_t begin = piece->object_offset, end = begin + piece->bytes;
    bool sequential = params->read_ahead && holder->read_end == begin;
    holder->read_end = end;
    if (holder->cached_begin <= begin && end <= holder->cached_end)
        return now + (double)piece->bytes / params->memory_bandwidth;
    now = ost_lock_to_read(params, object, client, begin, end, now);
    double arrived = now;
    for (int64_t done = 0; done < piece->bytes;) {
        int64_t left = piece->bytes - done;
        int64_t bytes = left < params->rpc_size ? left : params->rpc_size;
        struct rpc rpc = {client,
                          piece->target,
                          object->key,
                          bytes,
                          true,
                          true,
                          sequential || done > 0 ? 0 : params->network};
        arrived = transfer(params, state, &rpc, now);
        done += bytes;
    }
    if (params->client_cache > 0)
        cache(params, holder, begin, end);
    return copy(params, &state->clients[client], object, piece->bytes, true, arrived);
}

double ost_flushed(const struct ost_object *object, int client, double now)
{
    return later(now, object->clients[client].clean_at);
}
