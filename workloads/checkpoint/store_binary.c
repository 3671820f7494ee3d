/* Sequential records as Fortran writes them with form='unformatted'. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "store.h"

enum { MARK = sizeof(int32_t) };

static long long record_bytes(const Store *store)
{
    return (long long)store->levels * store->file_latitudes * store->cube->edge * (long long)sizeof(float);
}

static long long file_bytes(const Store *store)
{
    long long records = (long long)store->problem->arrays * (store->cube->levels / store->levels);
    return records * (record_bytes(store) + 2 * MARK);
}

/* Notes an error if the file does not have the size that this problem needs, because reading the beginning of
 * a larger file would not fail. */
static void check_file(Store *store)
{
    struct stat found;
    int32_t mark = 0;
    if (fstat(store->id, &found) != 0 || pread(store->id, &mark, MARK, 0) < 0)
        trouble_note(&store->trouble, "cannot read %s: %s", store->path, strerror(errno));
    else if (found.st_size >= MARK && mark != record_bytes(store))
        trouble_note(&store->trouble,
                     "%s has records of %d bytes, not %lld: the run that wrote the file had another "
                     "IM_WORLD, GATHER_3D, SPLIT_FILE or NUM_WRITERS",
                     store->path, mark, record_bytes(store));
    else if (found.st_size < file_bytes(store))
        trouble_note(&store->trouble, "%s ends too early: it has %lld bytes of %lld", store->path,
                     (long long)found.st_size, file_bytes(store));
}

static void open_binary(Store *store, bool writing)
{
    int writer = 0;
    bool first = true;
    if (!store->problem->split) {
        MPI_Comm_rank(store->cube->io, &writer);
        first = writer == 0;
    }
    /* The first of several writers of one file empties it before the others begin. */
    for (int turn = 0; turn < 2; turn++) {
        if (turn == !first)
            store->id =
                open(store->path, writing ? O_RDWR | O_CREAT | (first ? O_TRUNC : 0) : O_RDONLY, 0666);
        if (turn == !first && store->id < 0)
            trouble_note(&store->trouble, "cannot open %s: %s", store->path, strerror(errno));
        if (!store->problem->split)
            MPI_Barrier(store->cube->io);
    }
    if (!writing && store->id >= 0)
        check_file(store);
}

/* Writes or reads all parts, in as many calls as the system needs. */
static void move_parts(Store *store, bool writing, struct iovec *parts, int count, long long offset)
{
    while (count > 0 && !store->trouble.any) {
        ssize_t moved =
            writing ? pwritev(store->id, parts, count, offset) : preadv(store->id, parts, count, offset);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            trouble_note(&store->trouble, "cannot %s %s: %s", writing ? "write" : "read", store->path,
                         strerror(errno));
        else if (moved == 0)
            trouble_note(&store->trouble, "%s %s at byte %lld", store->path,
                         writing ? "takes no more" : "ends too early,", offset);
        offset += moved;
        for (; count > 0 && moved >= (ssize_t)parts->iov_len; parts++, count--)
            moved -= (ssize_t)parts->iov_len;
        if (count > 0 && moved > 0) {
            parts->iov_base = (char *)parts->iov_base + moved;
            parts->iov_len -= (size_t)moved;
        }
    }
}

/* Writes or reads one level of this writer's latitudes, together with the record's leading or trailing byte
 * count if the level begins or ends the record. */
static void move_level(Store *store, bool writing, long long record, int level, float *slab)
{
    long long edge = store->cube->edge, whole = record_bytes(store);
    long long cells = ((long long)level * store->file_latitudes + store->latitudes.first) * edge;
    long long offset = record * (whole + 2 * MARK) + MARK + cells * (long long)sizeof(float);
    bool begins = cells == 0;
    bool ends = (cells + store->latitudes.size * edge) * (long long)sizeof(float) == whole;
    int32_t head = (int32_t)whole, tail = head;
    struct iovec parts[3];
    int count = 0;
    if (begins)
        parts[count++] = (struct iovec){&head, MARK};
    parts[count++] = (struct iovec){slab, (size_t)(store->latitudes.size * edge) * sizeof(float)};
    if (ends)
        parts[count++] = (struct iovec){&tail, MARK};
    move_parts(store, writing, parts, count, begins ? offset - MARK : offset);
    if (!store->trouble.any && (head != whole || tail != whole))
        trouble_note(&store->trouble, "%s: record %lld is damaged: its counts are %d and %d, not %lld",
                     store->path, record + 1, head, tail, whole);
}

/* Writes or reads a slab level by level, because each level of a record with whole fields has latitudes of
 * several writers. */
static void move_binary(Store *store, bool writing, int array, int level, float *slab)
{
    long long record = ((long long)array * store->cube->levels + level) / store->levels;
    if (store->id < 0)
        return;
    for (int at = 0; at < store->levels; at++)
        move_level(store, writing, record, at,
                   slab + (size_t)at * (size_t)store->latitudes.size * (size_t)store->cube->edge);
}

static void close_binary(Store *store)
{
    if (store->id >= 0 && close(store->id) != 0)
        trouble_note(&store->trouble, "cannot close %s: %s", store->path, strerror(errno));
}

const Format FORMAT_BINARY = {true, true, "bin", open_binary, move_binary, close_binary};
