/* Extent locks of objects, by the rules of Lustre's lock server (ldlm_extent.c). A granted range grows as far
 * as the locks and requests of other clients allow, and less far on contended objects. When another client
 * needs any part of a lock, the whole lock is cancelled. */
#include "model.h"

enum { PAGE = 4096, FEW_LOCKS = 4, MANY_LOCKS = 32 };

#define LARGEST_GROWTH                                                                                       \
    (INT64_C(32) << 20) /* Number of bytes by which a lock may grow upwards if the object has many locks. */

static double later(double a, double b) { return a > b ? a : b; }

/* A range of bytes, [begin, end). */
struct range {
    int64_t begin, end;
};

/* Cancels the holder's lock; returns the moment at which its data is on the target. */
static double cancel(struct ost_object *object, struct ost_holder *holder)
{
    holder->end = holder->begin;
    holder->cached_end = holder->cached_begin;
    object->handovers++;
    object->lock_count--;
    return later(holder->clean_at, holder->granted_at);
}

/* If another client also waits for a lock on this object, cuts its range so that the range does not reach
 * into `wanted`. Returns false if the other client does not wait, or if the two requests overlap. */
static bool share_growth(struct ost_holder *other, struct range wanted, double now)
{
    if (other->granted_at <= now || (other->wanted_begin < wanted.end && wanted.begin < other->wanted_end))
        return false;
    if (other->wanted_begin < wanted.begin)
        other->end = wanted.begin;
    else
        other->begin = wanted.end;
    return true;
}

static struct range grow(const struct ost_params *params, const struct ost_object *object,
                         struct range wanted, struct range limits)
{
    int64_t most = wanted.begin + LARGEST_GROWTH;
    if (params->lock_ahead)
        return wanted;
    if (!params->lock_growth)
        return limits;
    if (object->lock_count > FEW_LOCKS)
        limits.begin = wanted.begin;
    if (object->lock_count > MANY_LOCKS && limits.end > most)
        limits.end = most > wanted.end ? most : wanted.end;
    return limits;
}

/* Grants a range to the holder of a lock. If the range touches the holder's present one, both become one
 * range. */
static void grant(struct ost_object *object, struct ost_holder *holder, struct range wanted,
                  struct range granted, double now)
{
    bool touches =
        holder->begin < holder->end && granted.begin <= holder->end && holder->begin <= granted.end;
    if (!touches) {
        object->lock_count++;
        holder->begin = granted.begin;
        holder->end = granted.end;
    } else {
        holder->begin = granted.begin < holder->begin ? granted.begin : holder->begin;
        holder->end = granted.end > holder->end ? granted.end : holder->end;
    }
    holder->wanted_begin = wanted.begin;
    holder->wanted_end = wanted.end;
    holder->granted_at = now;
}

double ost_lock(const struct ost_params *params, struct ost_object *object, int client, int64_t begin,
                int64_t end, double now)
{
    struct ost_holder *mine = &object->clients[client];
    struct range wanted = {begin / PAGE * PAGE, (end + PAGE - 1) / PAGE * PAGE}, limits = {0, INT64_MAX};
    double granted = params->lock_ahead ? now : now + params->lock;
    if (object->client_count <= client)
        object->client_count = client + 1;
    if (mine->begin <= wanted.begin && wanted.end <= mine->end)
        return later(now, mine->granted_at);
    for (int i = 0; i < object->client_count; i++) {
        struct ost_holder *other = &object->clients[i];
        if (i == client)
            continue;
        if (other->cached_begin < wanted.end && wanted.begin < other->cached_end)
            other->cached_end = other->cached_begin;
        if (other->end <= other->begin)
            continue;
        if (other->begin < wanted.end && wanted.begin < other->end) {
            if (params->lock_growth && share_growth(other, wanted, now)) {
                granted = later(granted, other->granted_at);
            } else {
                granted = later(granted, later(now + params->lock, cancel(object, other)) + params->lock);
                continue;
            }
        }
        if (other->end <= wanted.begin)
            limits.begin = other->end > limits.begin ? other->end : limits.begin;
        else
            limits.end = other->begin < limits.end ? other->begin : limits.end;
    }
    grant(object, mine, wanted, grow(params, object, wanted, limits), granted);
    return granted;
}

double ost_lock_to_read(const struct ost_params *params, struct ost_object *object, int client, int64_t begin,
                        int64_t end, double now)
{
    for (int i = 0; i < object->client_count; i++) {
        struct ost_holder *other = &object->clients[i];
        if (i != client && begin < other->end && other->begin < end)
            now = later(now, cancel(object, other)) + params->lock;
    }
    return now;
}
