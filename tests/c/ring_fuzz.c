/* Random requests through a ring of the depth that the first argument gives, with the second one as seed. The
 * program counts the bytes in the completions; it takes completions without calls, and sometimes leaves them
 * in the ring for a while. */
#include "posix_expect.h"

#include "raw_ring.h"

enum { FILES = 3, BYTES = 1 << 18, PIECE = 4096, ROUNDS = 300, SLOTS = 1024 };

static struct truth {
    int64_t calls[2], bytes[2], syncs;
} truth[FILES];

static struct active {
    int operation, file, direction;
} active[SLOTS];

static unsigned seed;
static char data[SLOTS][PIECE];
static struct iovec vectors[SLOTS][2];
static int fds[FILES];

static unsigned any(unsigned most)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % most;
}

static void prepare(struct raw_ring *ring, unsigned slot)
{
    static const uint8_t KINDS[] = {IORING_OP_READ,   IORING_OP_WRITE,      IORING_OP_READV,
                                    IORING_OP_WRITEV, IORING_OP_READ_FIXED, IORING_OP_WRITE_FIXED,
                                    IORING_OP_FSYNC,  IORING_OP_NOP};
    unsigned kind = any(sizeof KINDS);
    int file = (int)any(FILES);
    unsigned bytes = 1 + any(PIECE / 2), vector = kind == 2 || kind == 3;
    int64_t offset = any(16) == 0 && file != 2 ? -1 : (int64_t)any(BYTES);
    vectors[slot][0] = (struct iovec){data[slot], bytes};
    vectors[slot][1] = (struct iovec){data[slot] + PIECE / 2, any(PIECE / 2)};
    active[slot] = (struct active){KINDS[kind], file, kind == 6 ? 2 : kind == 7 ? 3 : (int)kind % 2};
    if (kind >= 6)
        bytes = 0, offset = 0;
    struct io_uring_sqe *request =
        raw_ring_prepare(ring, KINDS[kind], fds[file], vector ? (void *)vectors[slot] : (void *)data[slot],
                         vector ? 2 : bytes, offset, slot);
    if (kind >= 6)
        request->addr = 0;
    if (file == 2) {
        request->fd = 1;
        request->flags |= IOSQE_FIXED_FILE;
    } else if (any(20) == 0 && kind < 6) {
        request->fd = 900; /* The descriptor 900 does not exist, so that the request fails. */
    }
    if (any(8) == 0)
        request->flags |= IOSQE_IO_LINK;
    if (any(8) == 0)
        request->flags |= IOSQE_ASYNC;
}

static bool taken(struct raw_ring *ring, bool *free_slot)
{
    struct io_uring_cqe done;
    if (!raw_ring_take(ring, &done))
        return false;
    const struct active *a = &active[done.user_data];
    free_slot[done.user_data] = true;
    if (done.res >= 0 && a->direction < 2) {
        truth[a->file].calls[a->direction]++;
        truth[a->file].bytes[a->direction] += done.res;
    }
    truth[a->file].syncs += done.res == 0 && a->direction == 2;
    return true;
}

int main(int count, char **arguments)
{
    static bool free_slot[SLOTS];
    static const char *const NAMES[] = {"ring0.dat", "ring1.dat", "ring2.dat"};
    struct raw_ring ring;
    unsigned depth = count > 1 ? (unsigned)atoi(arguments[1]) : 8, flying = 0, waiting = 0;
    seed = count > 2 ? (unsigned)atoi(arguments[2]) : 1;
    if (!raw_ring_open(&ring, depth, 0))
        return 0;
    for (int i = 0; i < FILES; i++)
        MUST((fds[i] = open(NAMES[i], O_CREAT | O_RDWR, 0600)) >= 0 && ftruncate(fds[i], BYTES) == 0);
    int table[] = {-1, fds[2]};
    struct iovec all = {data, sizeof data};
    MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, table, 2L) == 0);
    MUST(syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_BUFFERS, &all, 1L) == 0);
    MUST(close(fds[2]) == 0);
    for (int i = 0; i < SLOTS; i++)
        free_slot[i] = true;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned room = ring.params.sq_entries - waiting, wish = any(room + 1);
        for (unsigned i = 0; i < wish && flying + waiting < ring.params.cq_entries; i++) {
            unsigned slot = any(SLOTS);
            if (!free_slot[slot])
                continue;
            free_slot[slot] = false;
            prepare(&ring, slot);
            waiting++;
        }
        unsigned most = any(4) == 0 ? any(waiting + 1) : waiting;
        unsigned wanted = any(3) && flying + most ? 1 + any(flying + most) : 0;
        int got = raw_ring_enter(&ring, most, wanted);
        waiting -= (unsigned)got;
        flying += (unsigned)got;
        for (unsigned i = any(3) ? flying : any(flying + 1); i > 0 && taken(&ring, free_slot); i--)
            flying--;
    }
    while (flying + waiting > 0) {
        int got = raw_ring_enter(&ring, waiting, 1);
        waiting -= (unsigned)got;
        flying += (unsigned)got;
        while (taken(&ring, free_slot))
            flying--;
    }
    for (int i = 0; i < FILES; i++)
        printf("%s %ld %ld %ld %ld %ld\n", NAMES[i], (long)truth[i].calls[0], (long)truth[i].bytes[0],
               (long)truth[i].calls[1], (long)truth[i].bytes[1], (long)truth[i].syncs);
    return 0;
}
