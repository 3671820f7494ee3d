/* libiolens-replay.so: replays of a job's calls for `iolens table what_if`, loaded by
 * report/iolens/metrics/why/replay.py, which does the same in Python where this library is missing.
 *
 * Each rank goes through its calls until one must wait for calls of other ranks that have not begun yet. A
 * job has up to 10^8 calls. The lists contain only the calls that wait for other calls, or for which other
 * calls wait. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Version of the layout of `struct dependencies`; must grow when the layout changes. replay.py compares it
 * with the version that it knows before it calls this library. */
__attribute__((visibility("default"))) const int32_t iolens_replay_layout = 3;

/* Calls are numbered by rank and begin. A call that waits for others is called a waiter; the other arrays
 * name it by its index in `waiter`. Lists about calls are sorted by the number of the call, so that each rank
 * reads its part once. */
struct dependencies {
    int64_t ranks, edges, waiters, parts, groups, chained;
    const int64_t *first; /* Array by rank: the number of the rank's first call. One more entry holds the
                             number of all calls. */
    /* An edge: the waiter `edge_to` cannot end before the call `edge_from` has begun. */
    const int32_t *edge_from, *edge_to;
    const int32_t *waiter; /* Numbers of the calls that wait for other calls. */
    /* Pairs of a call and a group: the group waits until this call has begun. */
    const int32_t *part_call, *part_of;
    /* The waiters frees[frees_first[g]] to frees[frees_first[g + 1] - 1] cannot end before all calls of group
     * g have begun. */
    const int32_t *frees_first, *frees;
    /* Array by group, for the first `chained` groups: the number of a larger group that contains all calls of
     * this group; -1 if there is none. */
    const int32_t *larger;
};

struct rank {
    int64_t next, last; /* `next`: the rank's first call that has not ended. `last`: one more than the number
                           of its last call. */
    int64_t edge, waiter, part; /* For each list of the dependencies, the index of the first entry about call
                                   `next` or a later call. */
    double time; /* Simulated time at which call `next` began or, if it has not begun, at which the call
                  * before it ended. */
    bool begun;  /* True if call `next` has begun. */
};

struct state {
    const struct dependencies *on;
    struct rank *rank;
    int64_t *ready; /* Numbers of the ranks that can advance. */
    int64_t ready_count;
    /* Array by waiter: number of calls and groups that it still waits for, with a minus sign once its rank
     * has reached it. */
    int32_t *missing;
    double *earliest; /* Array by waiter: the latest begin of the calls that it waits for. */
    /* Arrays by group: `absent` is the number of parts (calls and smaller groups) that have not begun, and
       `latest` the latest begin of the parts that have. */
    int32_t *absent;
    double *latest;
};

static void release(struct state *state)
{
    free(state->rank);
    free(state->ready);
    free(state->missing);
    free(state->earliest);
    free(state->absent);
    free(state->latest);
}

/* Returns the place of the first of the ascending numbers that is not below `least`. */
static int64_t place_of(const int32_t *numbers, int64_t count, int64_t least)
{
    int64_t low = 0;
    while (count > 0) {
        int64_t half = count / 2;
        bool below = numbers[low + half] < least;
        low += below ? half + 1 : 0;
        count = below ? count - half - 1 : half;
    }
    return low;
}

/* Allocates the state of a replay and sets it to the start of the job. Returns false without memory. */
static bool prepare(struct state *state, const struct dependencies *on)
{
    size_t ranks = (size_t)on->ranks + 1, waiters = (size_t)on->waiters + 1, groups = (size_t)on->groups + 1;
    *state = (struct state){
        .on = on,
        .rank = malloc(ranks * sizeof *state->rank),
        .ready = malloc(ranks * sizeof *state->ready),
        .missing = calloc(waiters, sizeof *state->missing),
        .earliest = calloc(waiters, sizeof *state->earliest),
        .absent = calloc(groups, sizeof *state->absent),
        .latest = calloc(groups, sizeof *state->latest),
    };
    if (!state->rank || !state->ready || !state->missing || !state->earliest || !state->absent ||
        !state->latest)
        return false;
    for (int64_t i = on->ranks - 1; i >= 0; i--) {
        state->rank[i] = (struct rank){.next = on->first[i],
                                       .last = on->first[i + 1],
                                       .edge = place_of(on->edge_from, on->edges, on->first[i]),
                                       .waiter = place_of(on->waiter, on->waiters, on->first[i]),
                                       .part = place_of(on->part_call, on->parts, on->first[i])};
        state->ready[state->ready_count++] = i;
    }
    for (int64_t i = 0; i < on->edges; i++)
        state->missing[on->edge_to[i]]++;
    for (int64_t i = 0; i < on->frees_first[on->groups]; i++)
        state->missing[on->frees[i]]++;
    for (int64_t i = 0; i < on->parts; i++)
        state->absent[on->part_of[i]]++;
    for (int64_t i = 0; i < on->chained; i++)
        if (on->larger[i] >= 0)
            state->absent[on->larger[i]]++;
    return true;
}

/* Returns the rank that made a call. */
static int64_t rank_of(const struct dependencies *on, int64_t call)
{
    int64_t low = 0, high = on->ranks;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (on->first[middle] <= call)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Notes that one of the calls that a waiter waits for began at `time`. If it was the last one, the waiter's
 * rank can advance. */
static void release_waiter(struct state *state, int32_t waiter, double time)
{
    int32_t *missing = &state->missing[waiter];
    if (time > state->earliest[waiter])
        state->earliest[waiter] = time;
    if (*missing > 0)
        --*missing;
    else if (*missing < 0 && ++*missing == 0)
        state->ready[state->ready_count++] = rank_of(state->on, state->on->waiter[waiter]);
}

/* Notes that a part of a group began at `time`. The last part releases the waiters of the group, which may
 * itself be the last part of a larger group. */
static void note_part(struct state *state, int32_t group, double time)
{
    const struct dependencies *on = state->on;
    while (group >= 0) {
        if (time > state->latest[group])
            state->latest[group] = time;
        if (--state->absent[group] > 0)
            return;
        time = state->latest[group];
        for (int32_t i = on->frees_first[group]; i < on->frees_first[group + 1]; i++)
            release_waiter(state, on->frees[i], time);
        group = group < on->chained ? on->larger[group] : -1;
    }
}

/* Tells the calls that wait for the next call of this rank that it has begun. */
static void begin(struct state *state, struct rank *rank)
{
    const struct dependencies *on = state->on;
    for (; rank->edge < on->edges && on->edge_from[rank->edge] == rank->next; rank->edge++)
        release_waiter(state, on->edge_to[rank->edge], rank->time);
    for (; rank->part < on->parts && on->part_call[rank->part] == rank->next; rank->part++)
        note_part(state, on->part_of[rank->part], rank->time);
}

/* Advances a rank to its first call that must wait, or to its end. */
static void advance(struct state *state, struct rank *rank, const double *gap, const double *cost)
{
    const struct dependencies *on = state->on;
    for (; rank->next < rank->last; rank->next++) {
        if (!rank->begun) {
            rank->time += gap[rank->next];
            begin(state, rank);
        }
        rank->begun = true;
        if (rank->waiter < on->waiters && on->waiter[rank->waiter] == rank->next) {
            int32_t *missing = &state->missing[rank->waiter];
            if (*missing > 0) {
                *missing = -*missing;
                return;
            }
            if (state->earliest[rank->waiter] > rank->time)
                rank->time = state->earliest[rank->waiter];
            rank->waiter++;
        }
        rank->time += cost[rank->next];
        rank->begun = false;
    }
}

/* Returns the number of the rank with the smallest simulated time among the ranks that wait in a call; -1 if
 * all ranks are at their end. */
static int64_t first_stuck(const struct state *state)
{
    int64_t found = -1;
    for (int64_t i = 0; i < state->on->ranks; i++)
        if (state->rank[i].next < state->rank[i].last &&
            (found < 0 || state->rank[i].time < state->rank[found].time))
            found = i;
    return found;
}

/* Sets ends[rank] to the end of the rank's last call in seconds, if `gap` lies before each call, and each
 * takes `cost` after the begin of the calls that it waits for. Returns the number of calls at which
 * dependencies contradict one another; -1 without memory. */
__attribute__((visibility("default"))) int64_t iolens_replay(const struct dependencies *on, const double *gap,
                                                             const double *cost, double *ends)
{
    struct state state;
    int64_t broken = prepare(&state, on) ? 0 : -1;
    for (int64_t stuck = -1; broken >= 0;) {
        while (state.ready_count > 0)
            advance(&state, &state.rank[state.ready[--state.ready_count]], gap, cost);
        stuck = first_stuck(&state);
        if (stuck < 0)
            break;
        state.missing[state.rank[stuck].waiter] = 0;
        state.ready[state.ready_count++] = stuck;
        broken++;
    }
    for (int64_t i = 0; broken >= 0 && i < on->ranks; i++)
        ends[i] = state.rank[i].time;
    release(&state);
    return broken;
}
