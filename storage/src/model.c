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
    while (session->dirty_count > 0 && (session->dirty_count == OST_MAX_QUEUED ||
                                        session->dirty_bytes + bytes > params->dirty_per_target)) {
        now = later(now, session->dirty[session->dirty_head].done);
        settle(session, now);
    }
    return now;
}

/* Enters data that reaches the target at `done` into the account; data that joined the latest RPC becomes
 * part of it. */
static void soil(struct ost_session *session, int64_t bytes, bool joined, double done)
{
    uint32_t slot = (session->dirty_head + session->dirty_count - 1) % OST_MAX_QUEUED;
    if (!joined || session->dirty_count == 0) {
        slot = (session->dirty_head + session->dirty_count++) % OST_MAX_QUEUED;
        session->dirty[slot].bytes = 0;
    }
    session->dirty[slot].done = done;
    session->dirty[slot].bytes += bytes;
    session->dirty_bytes += bytes;
}

/* Queues the bytes of one RPC at its target; returns the time at which the target has moved them and
 * answered. */
static double transfer(const struct ost_params *params, struct ost_state *state, int client, int target,
                       int64_t bytes, bool new_rpc, double network, double now)
{
    struct ost_client *sender = &state->clients[client];
    struct ost_session *session = &sender->sessions[target];
    struct ost_target *server = &state->targets[target];
    double begin = now;
    if (new_rpc && session->rpcs >= (uint32_t)params->rpcs_in_flight)
        begin = later(begin,
                      session->sent[(session->rpcs - (uint32_t)params->rpcs_in_flight) % OST_MAX_IN_FLIGHT]);
    begin = later(begin, sender->link_free_at);
    sender->link_free_at = begin + (double)bytes / params->link_bandwidth;
    double service = (new_rpc ? params->ost_rpc : 0) + (double)bytes / params->ost_bandwidth;
    double start = later(begin + network / 2, server->free_at);
    server->free_at = start + service;
    server->busy += service;
    server->bytes += bytes;
    double done = later(server->free_at, sender->link_free_at) + network / 2;
    session->rpcs += new_rpc;
    session->sent[(session->rpcs - 1) % OST_MAX_IN_FLIGHT] = done;
    return done;
}

/* Takes the lock on [begin, end): other clients that hold any part of it release their whole extent and
 * first flush their dirty data of this object. The granted extent grows up to the remaining extents. */
static double take_lock(const struct ost_params *params, struct ost_object *object, int client, int64_t begin,
                        int64_t end, double now)
{
    if (object->clients[client].begin <= begin && end <= object->clients[client].end)
        return now;
    double granted = now + params->lock;
    int64_t lowest = 0, highest = INT64_MAX;
    for (int other = 0; other < OST_MAX_CLIENTS; other++) {
        int64_t from = object->clients[other].begin, to = object->clients[other].end;
        if (other == client || to <= from)
            continue;
        if (from < end && begin < to) {
            granted = later(granted, object->clients[other].clean_at + params->lock);
            object->clients[other].end = object->clients[other].begin;
            object->handovers++;
        } else if (to <= begin) {
            lowest = to > lowest ? to : lowest;
        } else {
            highest = from < highest ? from : highest;
        }
    }
    object->clients[client].begin = lowest;
    object->clients[client].end = highest;
    return granted;
}

double ost_write(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                 int client, const struct ost_piece *piece, double now)
{
    struct ost_session *session = &state->clients[client].sessions[piece->target];
    int64_t done = 0;
    now = take_lock(params, object, client, piece->object_offset, piece->object_offset + piece->bytes, now);
    while (done < piece->bytes) {
        int64_t at = piece->object_offset + done;
        int64_t left = piece->bytes - done;
        bool joins = session->rpc_object == object->key && session->rpc_end == at &&
                     session->rpc_fill < params->rpc_size && session->rpc_fill > 0;
        int64_t room = joins ? params->rpc_size - session->rpc_fill : params->rpc_size;
        int64_t bytes = left < room ? left : room;
        now = room_for(params, session, bytes, now);
        double on_target =
            transfer(params, state, client, piece->target, bytes, !joins, params->network, now);
        soil(session, bytes, joins, on_target);
        object->clients[client].clean_at = on_target;
        session->rpc_object = object->key;
        session->rpc_fill = (joins ? session->rpc_fill : 0) + bytes;
        session->rpc_end = at + bytes;
        now += (double)bytes / params->memory_bandwidth;
        done += bytes;
    }
    return now;
}

double ost_read(const struct ost_params *params, struct ost_state *state, struct ost_object *object,
                int client, const struct ost_piece *piece, double now)
{
    bool sequential = params->read_ahead && object->clients[client].read_end == piece->object_offset;
    double arrived = now;
    for (int other = 0; other < OST_MAX_CLIENTS; other++) {
        int64_t from = object->clients[other].begin, to = object->clients[other].end;
        if (other == client || to <= piece->object_offset || piece->object_offset + piece->bytes <= from)
            continue;
        now = later(now, object->clients[other].clean_at) + params->lock;
        object->clients[other].end = object->clients[other].begin;
        object->handovers++;
    }
    for (int64_t done = 0; done < piece->bytes;) {
        int64_t left = piece->bytes - done;
        int64_t bytes = left < params->rpc_size ? left : params->rpc_size;
        arrived = transfer(params, state, client, piece->target, bytes, true,
                           sequential || done > 0 ? 0 : params->network, now);
        done += bytes;
    }
    object->clients[client].read_end = piece->object_offset + piece->bytes;
    return arrived;
}

double ost_flushed(const struct ost_object *object, int client, double now)
{
    return later(now, object->clients[client].clean_at);
}
