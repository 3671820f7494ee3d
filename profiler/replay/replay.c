/* libiolens-replay.so: replays of a job's calls for `iolens table what_if`, loaded by
 * report/iolens/metrics/why/replay.py, which does the same in Python where this library is missing.
 *
 * Each rank goes through its calls until one must wait for calls of other ranks that have not begun yet. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Arrays by call, rank or group. Lists stand one behind the other: the values of key k are
 * list[first[k]] to list[first[k + 1] - 1]. */
struct dependencies {
    int64_t ranks, calls, groups;
    const int64_t *first; /* first call of each rank, and the number of calls behind the last one */
    const double *start;  /* measured begin of each call */
    const int32_t *rank, *leads_first, *leads_to; /* calls that cannot end before a call has begun */
    const int32_t *member;                        /* group that a call's start is a part of; -1: none */
    const int32_t *frees_first, *frees;           /* calls that wait until all of a group have begun */
    const int32_t *missing;                       /* number of calls and groups that a call waits for */
    const int32_t *members;                       /* number of calls in a group */
};

struct state {
    const struct dependencies *on;
    int64_t *next;  /* by rank: its first call that has not ended */
    bool *begun;    /* by rank: true if that call has begun */
    double *time;   /* by rank: begin of that call, or end of the one before */
    int64_t *ready; /* stack of the ranks that can go on, each once at most */
    int64_t ready_count;
    int32_t *missing; /* by call, and `absent` by group: the rest of `missing` and of `members` */
    int32_t *absent;
    double *earliest; /* by call: the latest begin of the calls that it waits for */
    double *latest;   /* by group: latest begin */
};

static void release(struct state *state)
{
    free(state->next);
    free(state->begun);
    free(state->time);
    free(state->ready);
    free(state->missing);
    free(state->absent);
    free(state->earliest);
    free(state->latest);
}

/* Returns false if there is no memory. */
static bool prepare(struct state *state, const struct dependencies *on)
{
    size_t ranks = (size_t)on->ranks + 1, calls = (size_t)on->calls + 1, groups = (size_t)on->groups + 1;
    *state = (struct state){
        .on = on,
        .next = malloc(ranks * sizeof *state->next),
        .begun = calloc(ranks, sizeof *state->begun),
        .time = calloc(ranks, sizeof *state->time),
        .ready = malloc(ranks * sizeof *state->ready),
        .missing = malloc(calls * sizeof *state->missing),
        .absent = malloc(groups * sizeof *state->absent),
        .earliest = calloc(calls, sizeof *state->earliest),
        .latest = calloc(groups, sizeof *state->latest),
    };
    if (!state->next || !state->begun || !state->time || !state->ready || !state->missing || !state->absent ||
        !state->earliest || !state->latest)
        return false;
    memcpy(state->next, on->first, (size_t)on->ranks * sizeof *state->next);
    memcpy(state->missing, on->missing, (size_t)on->calls * sizeof *state->missing);
    memcpy(state->absent, on->members, (size_t)on->groups * sizeof *state->absent);
    for (int64_t rank = on->ranks - 1; rank >= 0; rank--)
        state->ready[state->ready_count++] = rank;
    return true;
}

/* Takes a call that began at `time` off the list of those that these calls wait for. */
static void release_calls(struct state *state, const int32_t *calls, int64_t count, double time)
{
    for (int64_t i = 0; i < count; i++) {
        int32_t call = calls[i], rank = state->on->rank[call];
        if (time > state->earliest[call])
            state->earliest[call] = time;
        if (--state->missing[call] == 0 && state->next[rank] == call && state->begun[rank])
            state->ready[state->ready_count++] = rank;
    }
}

static void begin(struct state *state, int64_t call, double time)
{
    const struct dependencies *on = state->on;
    int32_t first = on->leads_first[call], group = on->member[call];
    release_calls(state, on->leads_to + first, on->leads_first[call + 1] - first, time);
    if (group < 0)
        return;
    if (time > state->latest[group])
        state->latest[group] = time;
    first = on->frees_first[group];
    if (--state->absent[group] == 0)
        release_calls(state, on->frees + first, on->frees_first[group + 1] - first, state->latest[group]);
}

/* Takes a rank to its first call that must wait, or to its end. */
static void advance(struct state *state, int64_t rank, const double *gap, const double *cost)
{
    while (state->next[rank] < state->on->first[rank + 1]) {
        int64_t call = state->next[rank];
        if (!state->begun[rank]) {
            state->time[rank] += gap[call];
            begin(state, call, state->time[rank]);
            state->begun[rank] = true; /* only now, so that a rank does not become ready by its own begin */
        }
        if (state->missing[call] > 0)
            return;
        if (state->earliest[call] > state->time[rank])
            state->time[rank] = state->earliest[call];
        state->time[rank] += cost[call];
        state->begun[rank] = false;
        state->next[rank]++;
    }
}

/* Returns the rank that stands at the call with the earliest measured begin; -1 if all ranks are at their
 * end. */
static int64_t first_stuck(const struct state *state)
{
    int64_t found = -1;
    for (int64_t rank = 0; rank < state->on->ranks; rank++)
        if (state->next[rank] < state->on->first[rank + 1] &&
            (found < 0 || state->on->start[state->next[rank]] < state->on->start[state->next[found]]))
            found = rank;
    return found;
}

/* Sets ends[rank] to the end of the rank's last call in seconds, if `gap` lies before each call, and each
 * takes `cost` after what it waits for. Returns the number of calls at which dependencies contradict one
 * another; -1 without memory. */
__attribute__((visibility("default"))) int64_t iolens_replay(const struct dependencies *on, const double *gap,
                                                             const double *cost, double *ends)
{
    struct state state;
    int64_t broken = prepare(&state, on) ? 0 : -1;
    for (int64_t stuck = -1; broken >= 0;) {
        while (state.ready_count > 0)
            advance(&state, state.ready[--state.ready_count], gap, cost);
        stuck = first_stuck(&state);
        if (stuck < 0)
            break;
        state.missing[state.next[stuck]] = 0;
        state.ready[state.ready_count++] = stuck;
        broken++;
    }
    if (broken >= 0)
        memcpy(ends, state.time, (size_t)on->ranks * sizeof *ends);
    release(&state);
    return broken;
}
