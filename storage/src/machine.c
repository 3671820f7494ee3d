/* The storage machine behind the clients' links: the speed of its targets in a run, and its metadata
 * server. */
#include "model.h"

enum draw { HOUR = 1, SPREAD, SLOW, STALLS, STALLED_TARGET, STALLED_SPEED, OTHERS };

#define SLOW_SPEED    0.5 /* Speed of a target whose server also carries another target after a failover. */
#define FULL_WRITE    0.66
#define FULL_READ     0.53
#define STALLED_LEAST 0.1
#define STALLED_RANGE 0.4
#define BURST         1.0 /* Seconds for which the load that other users put on a target stays the same. */

/* Returns a number from 0 to 1 that the arguments determine (splitmix64). */
static double drawn(uint64_t seed, enum draw what, uint64_t index)
{
    uint64_t mixed = seed * 0x9e3779b97f4a7c15u + (uint64_t)what * 0xd1b54a32d192ed03u + index;
    for (int round = 0; round < 2; round++) {
        mixed += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        mixed ^= mixed >> 31;
    }
    return (double)(mixed >> 11) / (double)(UINT64_C(1) << 53);
}

/* Returns a random number from the lognormal distribution with the median 1. The sum of twelve uniform
 * numbers is nearly normal, and the power approaches the exponential function without the mathematical
 * library. */
static double lognormal(double sigma, uint64_t seed, enum draw what, uint64_t index)
{
    double normal = -6;
    for (uint64_t i = 0; i < 12; i++)
        normal += drawn(seed, what, index * 12 + i);
    double power = 1 + sigma * normal / 1024;
    for (int i = 0; i < 10; i++)
        power *= power;
    return power;
}

void ost_begin(const struct ost_params *params, struct ost_state *state, uint64_t job, uint64_t hour)
{
    double common = lognormal(params->hour_spread, hour, HOUR, 0);
    bool stalls = drawn(job, STALLS, 0) < params->stalled_runs;
    int stalled = (int)(drawn(job, STALLED_TARGET, 0) * params->targets);
    state->hour = hour;
    state->varies = params->hour_spread > 0 || params->target_spread > 0 || params->slow_targets > 0 ||
                    params->stalled_runs > 0 || params->stream_loss > 0 || params->fill > 0 ||
                    params->other_users > 0;
    for (int i = 0; i < params->targets; i++) {
        double speed = common * lognormal(params->target_spread, job, SPREAD, (uint64_t)i);
        if (drawn(hour, SLOW, (uint64_t)i) < params->slow_targets)
            speed *= SLOW_SPEED;
        if (stalls && i == stalled)
            speed *= STALLED_LEAST + STALLED_RANGE * drawn(job, STALLED_SPEED, 0);
        state->targets[i].slower = 1 / speed - 1;
    }
}

/* Returns the share of a target's time that other users take; it changes with each burst. */
static double share_of_others(const struct ost_params *params, const struct ost_state *state, int target,
                              double now)
{
    uint64_t burst = (uint64_t)(now / BURST) * OST_MAX_TARGETS + (uint64_t)target;
    if (params->other_users <= 0)
        return 0;
    return params->other_users *
           (drawn(state->hour, OTHERS, burst) + drawn(state->hour, OTHERS, burst + OST_MAX_TARGETS));
}

double ost_slowness(const struct ost_params *params, const struct ost_state *state, int target, bool reading,
                    double now)
{
    double full = reading ? FULL_READ : FULL_WRITE;
    return (1 + state->targets[target].slower) *
           (1 + params->stream_loss * state->targets[target].interleaved) /
           ((1 - params->fill * (1 - full)) * (1 - share_of_others(params, state, target, now)));
}

static double work_of(const struct ost_params *params, enum ost_metadata request, int objects)
{
    switch (request) {
    case OST_CREATE:
        return params->create + params->create_object * objects;
    case OST_OPEN:
        return params->open;
    case OST_STAT:
        return params->stat;
    default:
        return params->unlink;
    }
}

double ost_metadata(const struct ost_params *params, struct ost_state *state, enum ost_metadata request,
                    int objects, double now)
{
    double *first = &state->metadata_threads[0];
    if (params->metadata_threads == 0)
        return now;
    for (int i = 1; i < params->metadata_threads; i++)
        if (state->metadata_threads[i] < *first)
            first = &state->metadata_threads[i];
    double arrived = now + params->network / 2;
    *first = (*first > arrived ? *first : arrived) + work_of(params, request, objects);
    /* Only the targets know the size of a file, so a request for its status goes to them, too. */
    double sizes = request == OST_STAT && objects > 0 ? params->network : 0;
    return *first + params->network / 2 + sizes;
}
