/* Makes random calls, determined by seeds, and states the expected counts: accesses to windows of other ranks
 * in every kind of epoch, with derived datatypes; then threads that send one another messages in every mode,
 * all at once. Usage: mpi_random SEED... */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "mpi_expect.h"

enum { BLOCK = 512, THREADS = 4, TURNS = 12, LONGEST = 1 << 17 };

/* Random numbers that are equal on every rank and thread with the same seed. */
struct dice {
    unsigned long long state;
};

static int throw(struct dice * dice, int sides)
{
    dice->state = dice->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((dice->state >> 33) % (unsigned)sides);
}

/* --- one-sided accesses --- */

/* The datatypes, made of doubles: a single one, three in a row, and every second of eight. */
enum { TYPES = 3 };
static MPI_Datatype types[TYPES];
static const int type_bytes[TYPES] = {8, 24, 32};

static double data[BLOCK], result[BLOCK];

struct access {
    int kind, target, type, count;
};

static void make_types(void)
{
    MPI_Type_contiguous(1, MPI_DOUBLE, &types[0]);
    MPI_Type_contiguous(3, MPI_DOUBLE, &types[1]);
    MPI_Type_vector(4, 1, 2, MPI_DOUBLE, &types[2]);
    for (int i = 0; i < TYPES; i++)
        MPI_Type_commit(&types[i]);
}

/* Makes one access to a window. Every origin has a block of its own in every window. */
static void put_or_get(struct access a, MPI_Win win)
{
    MPI_Datatype type = types[a.type];
    MPI_Aint at = (MPI_Aint)rank * BLOCK;
    long long bytes = (long long)a.count * type_bytes[a.type];
    switch (a.kind) {
    case 0:
        MPI_Put(data, a.count, type, a.target, at, a.count, type, win);
        expect("Put", 1, bytes, 0, 1), to(a.target, bytes);
        break;
    case 1:
        MPI_Get(result, a.count, type, a.target, at, a.count, type, win);
        expect("Get", 1, 0, bytes, 1), from(a.target, bytes);
        break;
    case 2:
        MPI_Accumulate(data, a.count, type, a.target, at, a.count, type, MPI_SUM, win);
        expect("Accumulate", 1, bytes, 0, 1), to(a.target, bytes);
        break;
    case 3:
        MPI_Get_accumulate(data, a.count, type, result, a.count, type, a.target, at, a.count, type, MPI_SUM,
                           win);
        expect("Get_accumulate", 1, bytes, bytes, 2), to(a.target, bytes), from(a.target, bytes);
        break;
    default:
        MPI_Fetch_and_op(data, result, MPI_DOUBLE, a.target, at, a.count % 2 ? MPI_NO_OP : MPI_SUM, win);
        expect("Fetch_and_op", 1, a.count % 2 ? 0 : 8, 8, a.count % 2 ? 1 : 2), from(a.target, 8);
        if (a.count % 2 == 0)
            to(a.target, 8);
    }
}

static void with_request(struct access a, MPI_Win win)
{
    MPI_Datatype type = types[a.type];
    MPI_Aint at = (MPI_Aint)rank * BLOCK;
    long long bytes = (long long)a.count * type_bytes[a.type];
    MPI_Request request;
    if (a.kind % 2) {
        MPI_Rput(data, a.count, type, a.target, at, a.count, type, win, &request);
        expect("Rput", 1, bytes, 0, 1), to(a.target, bytes);
    } else {
        MPI_Rget(result, a.count, type, a.target, at, a.count, type, win, &request);
        expect("Rget", 1, 0, bytes, 1), from(a.target, bytes);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("Wait", 1, 0, 0, 0);
}

/* Makes a few accesses to this target, or to any target if it is -1. Only accesses to passive targets may
 * have requests. */
static void accesses(struct dice *own, int target, int passive, MPI_Win win)
{
    for (int left = throw(own, 6); left > 0; left--) {
        struct access a = {throw(own, 5), target < 0 ? throw(own, RANKS) : target, throw(own, TYPES),
                           throw(own, BLOCK / 8)};
        if (passive && throw(own, 3) == 0)
            with_request(a, win);
        else
            put_or_get(a, win);
    }
}

static void fenced(struct dice *own, MPI_Win win)
{
    MPI_Win_fence(0, win);
    accesses(own, -1, 0, win);
    MPI_Win_fence(0, win);
    expect("Win_fence", 2, 0, 0, 0);
}

static void locked(struct dice *own, MPI_Win win)
{
    int target = throw(own, RANKS);
    MPI_Win_lock(throw(own, 2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, win);
    accesses(own, target, 1, win);
    MPI_Win_unlock(target, win);
    expect("Win_lock", 1, 0, 0, 0), expect("Win_unlock", 1, 0, 0, 0);
}

static void all_locked(struct dice *own, MPI_Win win)
{
    MPI_Win_lock_all(0, win);
    accesses(own, -1, 1, win);
    MPI_Win_flush_all(win);
    accesses(own, -1, 1, win);
    MPI_Win_unlock_all(win);
    expect("Win_lock_all", 1, 0, 0, 0), expect("Win_unlock_all", 1, 0, 0, 0);
    expect("Win_flush_all", 1, 0, 0, 0);
}

/* Exposes the window of each rank to the next rank, which makes random accesses to it. */
static void posted(struct dice *own, MPI_Win win)
{
    int right = (rank + 1) % RANKS, left = (rank + RANKS - 1) % RANKS;
    MPI_Group all, origin, target;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &left, &origin);
    MPI_Group_incl(all, 1, &right, &target);
    MPI_Win_post(origin, 0, win);
    MPI_Win_start(target, 0, win);
    accesses(own, right, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    expect("Win_post", 1, 0, 0, 0), expect("Win_start", 1, 0, 0, 0), expect("Win_complete", 1, 0, 0, 0);
    expect("Win_wait", 1, 0, 0, 0);
    MPI_Group_free(&origin), MPI_Group_free(&target), MPI_Group_free(&all);
}

static void one_sided(unsigned long long seed)
{
    struct dice common = {seed}, own = {seed * RANKS + (unsigned)rank};
    void (*const epochs[])(struct dice *, MPI_Win) = {fenced, locked, all_locked, posted};
    double *window;
    MPI_Win win;
    MPI_Win_allocate(RANKS * BLOCK * sizeof *window, sizeof *window, MPI_INFO_NULL, MPI_COMM_WORLD, &window,
                     &win);
    expect("Win_allocate", 1, 0, 0, 0);
    for (int turn = 0; turn < TURNS; turn++) {
        epochs[throw(&common, 4)](&own, win);
        MPI_Barrier(MPI_COMM_WORLD);
        expect("Barrier", 1, 0, 0, 0);
    }
    MPI_Win_free(&win);
    expect("Win_free", 1, 0, 0, 0);
}

/* --- messages of threads --- */

/* One message of a thread: its direction, its bytes, and whether the receive names its sender or takes any.
 */
struct turn {
    int way, size, from_any;
};

/* A thread exchanges messages with the thread of the same number on the partner; the number is the tag. */
struct thread {
    unsigned long long seed;
    int number, partner;
    struct turn sent[TURNS], received[TURNS];
};

enum { SEND, ISEND, SSEND, SEND_WAYS = 4 };
enum { RECEIVE, IRECEIVE, MATCHED, RECEIVE_WAYS = 4 };

static void send_one(const struct thread *t, struct turn turn, char *buffer, MPI_Request *persistent)
{
    MPI_Request request;
    if (turn.way == SEND) {
        MPI_Send(buffer, turn.size, MPI_CHAR, t->partner, t->number, MPI_COMM_WORLD);
    } else if (turn.way == SSEND) {
        MPI_Ssend(buffer, turn.size, MPI_CHAR, t->partner, t->number, MPI_COMM_WORLD);
    } else if (turn.way == ISEND) {
        MPI_Isend(buffer, turn.size, MPI_CHAR, t->partner, t->number, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Start(persistent);
        MPI_Wait(persistent, MPI_STATUS_IGNORE);
    }
}

static void receive_one(const struct thread *t, struct turn turn, char *buffer, MPI_Request *persistent)
{
    MPI_Request request;
    MPI_Message message;
    int source = turn.from_any ? MPI_ANY_SOURCE : t->partner;
    if (turn.way == RECEIVE) {
        MPI_Recv(buffer, LONGEST, MPI_CHAR, source, t->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (turn.way == IRECEIVE) {
        MPI_Irecv(buffer, LONGEST, MPI_CHAR, source, t->number, MPI_COMM_WORLD, &request);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    } else if (turn.way == MATCHED) {
        MPI_Mprobe(source, t->number, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(buffer, LONGEST, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Start(persistent);
        MPI_Wait(persistent, MPI_STATUS_IGNORE);
    }
}

static int persistent_size(const struct thread *t, int sender) { return 1000 * t->number + 100 * sender + 7; }

static void *talk(void *argument)
{
    const struct thread *t = argument;
    char *buffer = calloc(2, LONGEST);
    MPI_Request out, in;
    MUST(buffer);
    MPI_Send_init(buffer, persistent_size(t, rank), MPI_CHAR, t->partner, t->number, MPI_COMM_WORLD, &out);
    MPI_Recv_init(buffer + LONGEST, LONGEST, MPI_CHAR, t->partner, t->number, MPI_COMM_WORLD, &in);
    for (int i = 0; i < TURNS; i++) {
        if (rank < t->partner)
            send_one(t, t->sent[i], buffer, &out);
        receive_one(t, t->received[i], buffer + LONGEST, &in);
        if (rank > t->partner)
            send_one(t, t->sent[i], buffer, &out);
    }
    MPI_Request_free(&out), MPI_Request_free(&in);
    free(buffer);
    return NULL;
}

static void expect_sent(const struct thread *t, struct turn turn)
{
    static const char *const names[SEND_WAYS] = {"Send", "Isend", "Ssend", "Start"};
    expect(names[turn.way], 1, turn.size, 0, 1), to(t->partner, turn.size);
    if (turn.way != SEND && turn.way != SSEND)
        expect("Wait", 1, 0, 0, 0);
}

static void expect_received(const struct thread *t, struct turn turn)
{
    static const char *const begins[RECEIVE_WAYS] = {NULL, "Irecv", "Mprobe", "Start"};
    static const char *const ends[RECEIVE_WAYS] = {"Recv", "Waitall", "Mrecv", "Wait"};
    if (begins[turn.way])
        expect(begins[turn.way], 1, 0, 0, 0);
    expect(ends[turn.way], 1, 0, turn.size, 0), from(t->partner, turn.size);
}

/* Plans the messages of a thread. Both partners draw the same random numbers for both directions. */
static void plan(struct thread *t)
{
    static const int edges[] = {0, 15, 16, 255, 256, 4096, 65536, LONGEST};
    struct dice dice = {t->seed * THREADS + (unsigned)t->number +
                        (unsigned)(rank < t->partner ? rank : t->partner) * 99};
    int lower = rank < t->partner ? rank : t->partner, higher = rank + t->partner - lower;
    for (int i = 0; i < TURNS; i++)
        for (int upward = 0; upward < 2; upward++) {
            struct turn send = {.way = throw(&dice, SEND_WAYS)};
            send.size = throw(&dice, 2) ? edges[throw(&dice, 8)] : throw(&dice, 5000);
            if (send.way == SEND_WAYS - 1)
                send.size = persistent_size(t, upward ? lower : higher);
            struct turn receive = {throw(&dice, RECEIVE_WAYS), send.size, throw(&dice, 2)};
            if (upward == (rank == lower))
                t->sent[i] = send, expect_sent(t, send);
            else
                t->received[i] = receive, expect_received(t, receive);
        }
    expect("Send_init", 1, 0, 0, 0), expect("Recv_init", 1, 0, 0, 0), expect("Request_free", 2, 0, 0, 0);
}

static void threads(unsigned long long seed)
{
    static struct thread all[THREADS];
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct thread){.seed = seed, .number = i, .partner = rank ^ (1 + i % (RANKS - 1))};
        plan(&all[i]);
    }
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread[i], NULL, talk, &all[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(thread[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    int level, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    expect("Init_thread", 1, 0, 0, 0), expect("Finalize", 1, 0, 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MUST(ranks == RANKS && level == MPI_THREAD_MULTIPLE);
    make_types();
    for (int i = 1; i < argc; i++) {
        one_sided(strtoull(argv[i], NULL, 10));
        threads(strtoull(argv[i], NULL, 10));
        MPI_Barrier(MPI_COMM_WORLD);
        expect("Barrier", 1, 0, 0, 0);
    }
    for (int i = 0; i < TYPES; i++)
        MPI_Type_free(&types[i]);
    print_expected();
    MPI_Finalize();
    return 0;
}
