/* Tests the table of pending requests: a search looks at few entries, however many there are. Prints a line
 * for each fault; exit code 1 if there is one. */
#include <stdio.h>

#include "../../profiler/src/mpi/requests.c"

enum { MANY = 1 << 18, FEW_ENTRIES = 24 };

static int failures;

/* Replace the functions of these names in comms.c; no request here belongs to a communicator. */
struct comm *comm_hold(struct comm *comm) { return comm; }
void comm_release(struct comm *comm) { (void)comm; }

static void must(bool right, const char *what)
{
    if (!right && failures++ == 0)
        printf("%s\n", what);
}

/* Returns handle number i. Handles of some MPI libraries are addresses of objects, `apart` bytes apart; those
 * of others are numbers that count up (`apart` is 1). */
static MPI_Request handle_of(long i, long apart) { return (MPI_Request)(uintptr_t)(0x4c000000L + i * apart); }

static long longest_chain(void)
{
    long longest = 0;
    for (int i = 0; i < SHARDS; i++)
        for (size_t k = 0; k < (size_t)1 << shards[i].bits; k++) {
            long length = 0;
            for (const struct entry *entry = chains_of(&shards[i])[k]; entry; entry = entry->next)
                length++;
            longest = length > longest ? length : longest;
        }
    return longest;
}

static void put(long i, long apart, double posted)
{
    requests_put(handle_of(i, apart), (struct request){.kind = REQUEST_RECEIVE, .posted = posted, .sent = i});
}

static void many(long apart)
{
    struct request found;
    put(0, apart, 1);
    put(0, apart, 2); /* The library gives the handle of the completed request to another request. */
    for (long i = 1; i < MANY; i++)
        put(i, apart, 1);
    must(longest_chain() <= FEW_ENTRIES, "many entries are looked at to find one");
    must(requests_find(handle_of(0, apart), 1.5, &found) && found.posted == 1, "the older one is not found");
    must(requests_find(handle_of(0, apart), INFINITY, &found) && found.posted == 2, "nor the newer one");
    requests_forget(handle_of(0, apart), INFINITY);
    for (long i = 0; i < MANY; i++) {
        must(requests_find(handle_of(i, apart), INFINITY, &found) && found.sent == i, "a request is lost");
        requests_forget(handle_of(i, apart), INFINITY);
    }
    must(requests_none(), "a request is left");
}

/* Checks a handle that the MPI library used again: a receive is complete, and the library has given its
 * handle to a send of another thread, before the thread that waited for the receive removed it from the
 * table. */
static void given_to_a_send(void)
{
    struct request found;
    put(0, 1, 1);
    requests_pass(handle_of(0, 1), 3);
    must(!requests_find(handle_of(0, 1), INFINITY, &found), "a send is taken for the receive before it");
    must(!requests_find(handle_of(0, 1), 4, &found), "the same, where many are completed");
    must(requests_find(handle_of(0, 1), 2, &found), "who waited for the receive does not find it");
    put(0, 1, 5);
    must(requests_find(handle_of(0, 1), INFINITY, &found) && found.posted == 5,
         "the next receive is not found");
    requests_forget(handle_of(0, 1), 2);
    requests_forget(handle_of(0, 1), INFINITY);
    must(requests_none(), "a request is left of the three");
}

int main(void)
{
    requests_of_threads();
    given_to_a_send();
    many(1);
    many(192);
    return failures > 0;
}
