/* ost-replay: replays the actions of ranks through the model, at chosen settings.
 *
 * Standard input is CSV. First comes a line for each file,
 *   file,FILE,STRIPE_COUNT,STRIPE_SIZE,FIRST_TARGET
 * then the actions of each rank in their order; lines of different ranks may be mixed:
 *   t,RANK,SECONDS              compute, or do other work that takes this time on any storage
 *   w,RANK,FILE,OFFSET,BYTES    write; r reads
 *   c,RANK,FILE                 create the file; o opens it, s asks for its size, u removes it
 *   f,RANK,FILE                 wait until the targets have all that the rank's client wrote to the file
 *   m,RANK,PLACE,RANKS          wait until RANKS ranks are at this place; each place is used once
 *   p,RANK,PLACE                come to this place without waiting, and take the next step at once
 *   b,RANK,PLACE,RANKS          wait until RANKS other ranks have come to this place
 *   k,RANK,TAG                  print TAG,RANK,SECONDS
 * The program prints the marks, then `end,-1,SECONDS`, the time at which the last rank has finished.
 *
 * If several ranks arrive together, chance decides on a real machine which of them comes first, and therefore
 * which wait for locks of others. A seed draws one such order at random; without a seed the earliest rank
 * comes first, and among equals the lowest. If the configuration lets speeds vary, the seed also draws the
 * speeds of the targets in this run, and HOUR the part of the variation that is common to all runs of an
 * hour. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params.h"
#include "sys.h"

struct step {
    char kind;
    int64_t number[3];
    double seconds;
};

struct rank {
    struct step *steps;
    size_t count, room, next;
    double now;
    int64_t written; /* Number of bytes of the current write that have been charged. */
    bool waits;
};

struct place {
    int64_t came;
    double last;
};

struct replay {
    struct ost_params params;
    struct ost_state state;
    struct ost_layout *layouts;
    struct ost_object **objects; /* One object for each target of a file. */
    int64_t files;
    struct rank *ranks;
    int64_t rank_count;
    struct place *places;
    int64_t place_count;
    uint64_t chance; /* State of the generator of random numbers; 0 if no random order is drawn. */
};

/* Seconds within which the order of ranks that continue after the same event is random: a process that slept
 * waits for a core, and even without that wakes up to 50 us late (timer slack, prctl(2)). The trace does not
 * tell which rank is first. */
static const double TOGETHER = 3e-4;

enum { RANKS_MAX = 1 << 20, FILES_MAX = 1 << 20, PLACES_MAX = 1 << 30 };

static double later(double a, double b) { return a > b ? a : b; }

/* Returns zeroed memory for the items from 0 up to number `wanted`; ends the program if there is no
 * memory. */
static void *room_for(void *items, int64_t *count, int64_t wanted, size_t bytes)
{
    if (wanted < *count)
        return items;
    int64_t grown = 2 * *count > wanted + 1 ? 2 * *count : wanted + 1;
    char *larger = realloc(items, (size_t)grown * bytes);
    if (!larger) {
        fprintf(stderr, "ost-replay: out of memory\n");
        exit(1);
    }
    memset(larger + (size_t)*count * bytes, 0, (size_t)(grown - *count) * bytes);
    *count = grown;
    return larger;
}

static bool add_file(struct replay *replay, const char *line)
{
    int64_t file, size;
    int count, start;
    if (sscanf(line, "file,%" SCNd64 ",%d,%" SCNd64 ",%d", &file, &count, &size, &start) != 4 || file < 0 ||
        file >= FILES_MAX || count < 1 || count > replay->params.targets || size < 1 || start < 0)
        return false;
    int64_t before = replay->files;
    replay->layouts = room_for(replay->layouts, &replay->files, file, sizeof *replay->layouts);
    replay->objects = room_for(replay->objects, &before, file, sizeof *replay->objects);
    replay->layouts[file] = (struct ost_layout){size, count, start};
    return true;
}

static bool known_file(const struct replay *replay, int64_t file)
{
    return file >= 0 && file < replay->files && replay->layouts[file].stripe_count > 0;
}

static bool parse_step(const struct replay *replay, const char *line, int64_t *rank, struct step *step)
{
    int end = 0;
    int64_t *number = step->number;
    if (sscanf(line, "%c,%" SCNd64 "%n", &step->kind, rank, &end) != 2 || *rank < 0 || *rank >= RANKS_MAX)
        return false;
    line += end;
    switch (step->kind) {
    case 't':
        return sscanf(line, ",%lf", &step->seconds) == 1 && step->seconds >= 0;
    case 'w':
    case 'r':
        return sscanf(line, ",%" SCNd64 ",%" SCNd64 ",%" SCNd64, &number[0], &number[1], &number[2]) == 3 &&
               known_file(replay, number[0]) && number[1] >= 0 && number[2] >= 0;
    case 'c':
    case 'o':
    case 's':
    case 'u':
    case 'f':
        return sscanf(line, ",%" SCNd64, &number[0]) == 1 && known_file(replay, number[0]);
    case 'm':
    case 'b':
        return sscanf(line, ",%" SCNd64 ",%" SCNd64, &number[0], &number[1]) == 2 && number[0] >= 0 &&
               number[0] < PLACES_MAX;
    case 'p':
        return sscanf(line, ",%" SCNd64, &number[0]) == 1 && number[0] >= 0 && number[0] < PLACES_MAX;
    case 'k':
        return sscanf(line, ",%" SCNd64, &number[0]) == 1;
    default:
        return false;
    }
}

static bool add_step(struct replay *replay, const char *line)
{
    int64_t rank;
    struct step step = {0};
    if (!parse_step(replay, line, &rank, &step) || rank / replay->params.ranks_per_client >= OST_MAX_CLIENTS)
        return false;
    replay->ranks = room_for(replay->ranks, &replay->rank_count, rank, sizeof *replay->ranks);
    if (step.kind == 'm' || step.kind == 'b' || step.kind == 'p')
        replay->places =
            room_for(replay->places, &replay->place_count, step.number[0], sizeof *replay->places);
    struct rank *at = &replay->ranks[rank];
    int64_t room = (int64_t)at->room;
    at->steps = room_for(at->steps, &room, (int64_t)at->count, sizeof *at->steps);
    at->room = (size_t)room;
    at->steps[at->count++] = step;
    return true;
}

static struct ost_object *object_of(struct replay *replay, int64_t file, int target)
{
    if (!replay->objects[file]) {
        int64_t none = 0;
        replay->objects[file] = room_for(NULL, &none, replay->params.targets - 1, sizeof(struct ost_object));
    }
    struct ost_object *object = &replay->objects[file][target];
    object->key = (uint64_t)file * OST_MAX_TARGETS + (uint64_t)target + 1;
    return object;
}

static struct ost_piece piece_of(const struct replay *replay, const struct step *step, int64_t done)
{
    return ost_first_piece(&replay->layouts[step->number[0]], replay->params.targets, step->number[1] + done,
                           step->number[2] - done);
}

/* Charges one piece of a write. The next piece is charged by the next call, so that another rank may ask for
 * a lock or a target in between. */
static void write_piece(struct replay *replay, struct rank *rank, const struct step *step, int client)
{
    if (step->number[2] == 0)
        return;
    struct ost_piece piece = piece_of(replay, step, rank->written);
    struct ost_object *object = object_of(replay, step->number[0], piece.target);
    rank->now = ost_write(&replay->params, &replay->state, object, client, &piece, rank->now);
    rank->written += piece.bytes;
    if (rank->written < step->number[2])
        rank->next--;
    else
        rank->written = 0;
}

/* Charges a read. All its pieces are requested at once. */
static void read_pieces(struct replay *replay, struct rank *rank, const struct step *step, int client)
{
    double end = rank->now;
    for (int64_t done = 0; done < step->number[2];) {
        struct ost_piece piece = piece_of(replay, step, done);
        struct ost_object *object = object_of(replay, step->number[0], piece.target);
        end = later(end, ost_read(&replay->params, &replay->state, object, client, &piece, rank->now));
        done += piece.bytes;
    }
    rank->now = end;
}

static double flushed(struct replay *replay, int64_t file, int client, double now)
{
    const struct ost_layout *layout = &replay->layouts[file];
    for (int stripe = 0; stripe < layout->stripe_count; stripe++)
        now = ost_flushed(object_of(replay, file, (layout->start + stripe) % replay->params.targets), client,
                          now);
    return now;
}

/* Sends a request to the metadata server. */
static double ask(struct replay *replay, const struct step *step, double now)
{
    enum ost_metadata request = step->kind == 'c'   ? OST_CREATE
                                : step->kind == 'o' ? OST_OPEN
                                : step->kind == 's' ? OST_STAT
                                                    : OST_UNLINK;
    return ost_metadata(&replay->params, &replay->state, request,
                        replay->layouts[step->number[0]].stripe_count, now);
}

static bool is_met(const struct replay *replay, const struct step *step)
{
    return replay->places[step->number[0]].came >= step->number[1];
}

/* Counts a rank that comes to a meeting point. Ranks that wait there continue if enough ranks have come. */
static void come(struct replay *replay, struct rank *rank, int64_t number)
{
    struct place *place = &replay->places[number];
    place->came++;
    place->last = later(place->last, rank->now);
    for (int64_t other = 0; other < replay->rank_count; other++) {
        struct rank *waiting = &replay->ranks[other];
        if (!waiting->waits)
            continue;
        const struct step *step = &waiting->steps[waiting->next - 1];
        if (step->number[0] == number && is_met(replay, step)) {
            waiting->waits = false;
            waiting->now = later(waiting->now, place->last);
        }
    }
}

static void await(struct replay *replay, struct rank *rank, const struct step *step)
{
    rank->waits = !is_met(replay, step);
    if (!rank->waits)
        rank->now = later(rank->now, replay->places[step->number[0]].last);
}

static void take_step(struct replay *replay, int64_t number)
{
    struct rank *rank = &replay->ranks[number];
    const struct step *step = &rank->steps[rank->next++];
    int client = (int)(number / replay->params.ranks_per_client);
    switch (step->kind) {
    case 't':
        rank->now += step->seconds;
        break;
    case 'c':
    case 'o':
    case 's':
    case 'u':
        rank->now = ask(replay, step, rank->now);
        break;
    case 'f':
        rank->now = flushed(replay, step->number[0], client, rank->now);
        break;
    case 'm':
        come(replay, rank, step->number[0]);
        await(replay, rank, step);
        break;
    case 'b':
        await(replay, rank, step);
        break;
    case 'p':
        come(replay, rank, step->number[0]);
        if (rank->next < rank->count)
            take_step(replay, number);
        break;
    case 'k':
        printf("%" PRId64 ",%" PRId64 ",%.9f\n", step->number[0], number, rank->now);
        break;
    case 'w':
        write_piece(replay, rank, step, client);
        break;
    default:
        read_pieces(replay, rank, step, client);
    }
}

/* Returns true with a probability of 1 / `many`, by xorshift64 (Marsaglia 2003). */
static bool drawn(struct replay *replay, uint64_t many)
{
    replay->chance ^= replay->chance << 13;
    replay->chance ^= replay->chance >> 7;
    replay->chance ^= replay->chance << 17;
    return replay->chance % many == 0;
}

static bool is_ready(const struct rank *rank) { return !rank->waits && rank->next < rank->count; }

/* Returns the rank whose turn it is, or -1. With a seed, the order of ranks that come at the same time is
 * random. */
static int64_t next_rank(struct replay *replay)
{
    int64_t next = -1;
    for (int64_t i = 0; i < replay->rank_count; i++)
        if (is_ready(&replay->ranks[i]) && (next < 0 || replay->ranks[i].now < replay->ranks[next].now))
            next = i;
    if (next < 0 || replay->chance == 0)
        return next;
    double latest = replay->ranks[next].now + TOGETHER;
    uint64_t alike = 0;
    for (int64_t i = 0; i < replay->rank_count; i++)
        if (is_ready(&replay->ranks[i]) && replay->ranks[i].now <= latest && drawn(replay, ++alike))
            next = i;
    return next;
}

static int play(struct replay *replay)
{
    double end = 0;
    for (int64_t rank; (rank = next_rank(replay)) >= 0;)
        take_step(replay, rank);
    for (int64_t i = 0; i < replay->rank_count; i++) {
        if (replay->ranks[i].waits) {
            fprintf(stderr, "ost-replay: rank %" PRId64 " waits for ranks that never come\n", i);
            return 1;
        }
        end = later(end, replay->ranks[i].now);
    }
    printf("end,-1,%.9f\n", end);
    return 0;
}

int main(int argc, char **argv)
{
    static struct replay replay;
    char text[8192], problem[512], line[256];
    int64_t drawn_by[2] = {0, 0};
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: ost-replay CONFIG [SEED [HOUR]] < programs.csv\n");
        return 2;
    }
    for (int i = 2; i < argc; i++)
        if (!whole_number(argv[i], 0, INT64_MAX, &drawn_by[i - 2])) {
            fprintf(stderr, "ost-replay: %s %s: a whole number from 0 on is needed\n",
                    i == 2 ? "SEED" : "HOUR", argv[i]);
            return 2;
        }
    replay.chance = (uint64_t)drawn_by[0] * 0x9e3779b97f4a7c15; /* The multiplication spreads small seeds, so
                                                                   that they give very different states. */
    if (sys_slurp(argv[1], text, sizeof text) < 0) {
        perror(argv[1]);
        return 2;
    }
    if (ost_params_parse(text, &replay.params, problem, sizeof problem) != 0) {
        fprintf(stderr, "ost-replay: %s: %s\n", argv[1], problem);
        return 2;
    }
    ost_begin(&replay.params, &replay.state, (uint64_t)drawn_by[0], (uint64_t)drawn_by[1]);
    for (int number = 1; fgets(line, sizeof line, stdin); number++)
        if (!(strncmp(line, "file,", 5) == 0 ? add_file(&replay, line) : add_step(&replay, line))) {
            fprintf(stderr, "ost-replay: line %d of the standard input is not a step of a rank: %s", number,
                    line);
            return 1;
        }
    return play(&replay);
}
