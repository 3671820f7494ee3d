/* Does I/O badly on purpose, or well. Each mode is one way of doing I/O, so that it is known beforehand which
 * advice must follow from the log. Usage: mpirun -np N faults MODE DIR [SCALE] */

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

static int rank, ranks;
static long scale = 1;
static const char *folder;
static char path[4096];
static char *data;

static void fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Returns the path of a file: DIR/NAME or, if each rank has its own file, DIR/NAME.RANK. */
static const char *in_folder(const char *name, int own)
{
    if (own)
        snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
    else
        snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int opened(const char *name, int own, int flags)
{
    int file = open(in_folder(name, own), flags, 0644);
    if (file < 0)
        fail(path);
    return file;
}

static void put(int file, size_t bytes, off_t offset)
{
    if (pwrite(file, data, bytes, offset) != (ssize_t)bytes)
        fail("write");
}

static void get(int file, size_t bytes, off_t offset)
{
    if (pread(file, data, bytes, offset) < 0)
        fail("read");
}

/* Waits for all ranks, as at the end of a time step. */
static void together(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* Makes `count` writes of `bytes`, one after the other, into this rank's own file. */
static void write_own(long count, size_t bytes, int sync)
{
    int file = opened("own", 1, O_CREAT | O_WRONLY | O_TRUNC);
    for (long i = 0; i < count; i++) {
        put(file, bytes, i * (off_t)bytes);
        if (sync)
            fsync(file);
    }
    close(file);
}

/* Reads this rank's input, which `make_input` wrote before, in a run that was not recorded. */
static void read_own(long count, size_t bytes, int backwards)
{
    int file = opened("input", 1, O_RDONLY);
    for (long i = 0; i < count; i++)
        get(file, bytes, (backwards ? (i * 7919) % count : i) * (off_t)bytes);
    close(file);
}

/* Writes one file in pieces of `bytes` that belong to the ranks in turn. */
static void write_shared(long count, size_t bytes, int contiguous)
{
    int file = opened("shared", 0, O_CREAT | O_WRONLY);
    for (long i = 0; i < count; i++) {
        long block = contiguous ? rank * count + i : i * ranks + rank;
        put(file, bytes, block * (off_t)bytes);
    }
    close(file);
}

static MPI_File mpi_open(const char *name, int mode)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, in_folder(name, 0), mode, MPI_INFO_NULL, &file))
        fail(path);
    return file;
}

static void mpi_blocks(long count, size_t bytes, int collective)
{
    MPI_File file = mpi_open("mpi", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    for (long i = 0; i < count; i++) {
        MPI_Offset at = (i * ranks + rank) * (MPI_Offset)bytes;
        if (collective)
            MPI_File_write_at_all(file, at, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_write_at(file, at, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* Writes through a view in which blocks of `bytes` belong to the ranks in turn, `count` blocks in a call,
 * `calls` times. */
static void mpi_view(long calls, int count, int bytes, int collective, int reading)
{
    MPI_Datatype part;
    MPI_Type_vector(count, bytes, bytes * ranks, MPI_BYTE, &part);
    MPI_Type_commit(&part);
    MPI_File file =
        mpi_open(reading ? "mpi-input" : "mpi", reading ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_RDWR);
    for (long i = 0; i < calls; i++) {
        MPI_Offset at = i * (MPI_Offset)count * bytes * ranks + (MPI_Offset)rank * bytes;
        MPI_File_set_view(file, at, MPI_BYTE, part, "native", MPI_INFO_NULL);
        if (reading && collective)
            MPI_File_read_all(file, data, count * bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (reading)
            MPI_File_read(file, data, count * bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (collective)
            MPI_File_write_all(file, data, count * bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_write(file, data, count * bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Type_free(&part);
}

static void small_writes(void) { write_own(300000 * scale, 512, 0); }
static void small_reads(void) { read_own(8000 * scale, 4 * KIB, 0); }
static void random_reads(void) { read_own(4000 * scale, 32 * KIB, 1); }
static void shared_small(void) { write_shared(2000 * scale, 4 * KIB, 0); }
static void independent(void) { mpi_blocks(2000 * scale, 4 * KIB, 0); }
static void not_aggregated(void) { mpi_blocks(2000 * scale, 4 * KIB, 1); }
static void sync_each(void) { write_own(400 * scale, 64 * KIB, 1); }
static void large_own(void) { write_own(40 * scale, 4 * MIB, 0); }
static void large_reads(void) { read_own(40 * scale, 4 * MIB, 0); }
static void aligned_shared(void) { write_shared(16 * scale, 8 * MIB, 1); }
static void unaligned_shared(void) { write_shared(100 * scale, 1000000, 0); }
static void meet_on_stripes(void) { write_shared(100 * scale, MIB, 0); }
static void large_calls(void) { write_shared(8 * scale, 16 * MIB, 0); }
static void data_sieving(void) { mpi_view(4 * scale, 256, 4 * KIB, 0, 0); }
static void sieving_reads(void) { mpi_view(4 * scale, 1024, 8 * KIB, 0, 1); }
static void small_parts(void) { mpi_view(20 * scale, 100000, 40, 1, 0); }
static void collective_blocks(void) { mpi_view(4 * scale, 32, MIB, 1, 0); }
static void odd_blocks(void) { mpi_view(4 * scale, 24, 1000003, 1, 0); }
static void whole_parts(void) { mpi_blocks(10 * scale, 32 * MIB, 1); }

static void stdio_data(void)
{
    FILE *file = fopen(in_folder("table", 1), "w");
    if (!file)
        fail(path);
    for (long i = 0; i < 600000 * scale; i++)
        fprintf(file, "%.17g\n", (double)i / 3);
    fclose(file);
}

static void stdio_blocks(void)
{
    FILE *file = fopen(in_folder("blocks", 1), "w");
    if (!file)
        fail(path);
    for (long i = 0; i < 40 * scale; i++)
        fwrite(data, 1, 4 * MIB, file);
    fclose(file);
}

static void one_writer(void)
{
    if (rank == 0)
        write_own(100 * scale, 4 * MIB, 0);
    together();
}

static void one_reader(void)
{
    if (rank == 0)
        read_own(100 * scale, 4 * MIB, 0);
    together();
}

static void turns(void)
{
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank)
            write_own(25 * scale, 4 * MIB, 1);
        together();
    }
}

static void shared_turns(void)
{
    for (int turn = 0; turn < ranks; turn++) {
        if (turn == rank) {
            int file = opened("shared", 0, O_CREAT | O_WRONLY);
            for (long i = 0; i < 25 * scale; i++)
                put(file, 4 * MIB, (rank * 25 * scale + i) * (off_t)(4 * MIB));
            fsync(file);
            close(file);
        }
        together();
    }
}

static void uneven_ranks(void)
{
    write_own((rank ? 5 : 80) * scale, 4 * MIB, 0);
    together();
}

static void straggler(void)
{
    if (rank == ranks - 1)
        write_own(4096 * scale, 16 * KIB, 1);
    else
        write_own(16 * scale, 4 * MIB, 0);
    together();
}

static void one_stripe_of_many(void)
{
    int file = opened("shared", 0, O_CREAT | O_WRONLY);
    for (long i = 0; i < 40 * scale; i++)
        put(file, MIB, (i * ranks + rank) * (off_t)(4 * MIB));
    if (rank == 0)
        for (long i = 1; i < 4; i++)
            put(file, MIB, i * MIB);
    close(file);
}

static void read_again(void)
{
    int file = opened("input", 1, O_RDONLY);
    for (long pass = 0; pass < 8 * scale; pass++)
        for (long i = 0; i < 8; i++)
            get(file, 4 * MIB, i * (off_t)(4 * MIB));
    close(file);
}

static void all_read(void)
{
    int file = opened("common-input", 0, O_RDONLY);
    for (long i = 0; i < 8; i++)
        get(file, 4 * MIB, i * (off_t)(4 * MIB));
    close(file);
    together();
}

static void rewriting(void)
{
    int file = opened("own", 1, O_CREAT | O_WRONLY);
    for (long pass = 0; pass < 8 * scale; pass++) {
        for (long i = 0; i < 8; i++)
            put(file, 4 * MIB, i * (off_t)(4 * MIB));
        fsync(file);
    }
    close(file);
}

static void look_again(int times_of_each)
{
    struct stat found;
    for (int i = 0; i < 100; i++) {
        snprintf(path, sizeof path, "%s/item.%d.%d", folder, rank, i);
        close(open(path, O_CREAT | O_WRONLY, 0644));
    }
    for (long pass = 0; pass < times_of_each * scale; pass++)
        for (int i = 0; i < 100; i++) {
            snprintf(path, sizeof path, "%s/item.%d.%d", folder, rank, i);
            stat(path, &found);
            if (pass % 50 == 0)
                close(open(path, O_RDONLY));
        }
}

static void metadata(void) { look_again(3000); }

static void reopened(void)
{
    for (long i = 0; i < 60000 * scale; i++) {
        int file = opened("journal", 1, O_CREAT | O_WRONLY | O_APPEND);
        if (i % 100 == 0 && write(file, data, 100) != 100)
            fail("write");
        close(file);
    }
}

static void compute(void)
{
    volatile double sum = 0;
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 3.0 * (double)scale)
        for (int i = 1; i < 100000; i++)
            sum += 1.0 / i;
    write_own(1, MIB, 0);
}

static double processor_seconds(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* Uses this much processor time, which takes longer on a busy machine. */
static void work_for(double seconds)
{
    volatile double sum = 0;
    double begin = processor_seconds();
    while (processor_seconds() - begin < seconds)
        for (int i = 1; i < 10000; i++)
            sum += 1.0 / i;
}

static void uneven_computing(void)
{
    for (int step = 0; step < 10; step++) {
        work_for(rank ? 0.02 : 0.5);
        together();
    }
}

static void small_messages(void)
{
    double mine = rank, theirs;
    for (long i = 0; i < 100000 * scale; i++)
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, &theirs, 1, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void make_input(void)
{
    int own = opened("input", 1, O_CREAT | O_WRONLY);
    for (long i = 0; i < (rank ? 40 : 100) * scale; i++)
        put(own, 4 * MIB, i * (off_t)(4 * MIB));
    close(own);
    if (rank)
        return;
    const char *names[] = {"common-input", "mpi-input"};
    for (int n = 0; n < 2; n++) {
        int file = opened(names[n], 0, O_CREAT | O_WRONLY);
        for (long i = 0; i < 64; i++)
            put(file, 4 * MIB, i * (off_t)(4 * MIB));
        close(file);
    }
    if (truncate(in_folder("common-input", 0), 32 * MIB))
        fail("truncate");
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"small-writes", small_writes},
    {"small-reads", small_reads},
    {"random-reads", random_reads},
    {"shared-small", shared_small},
    {"independent", independent},
    {"not-aggregated", not_aggregated},
    {"sync-each", sync_each},
    {"large-own", large_own},
    {"large-reads", large_reads},
    {"aligned-shared", aligned_shared},
    {"unaligned-shared", unaligned_shared},
    {"meet-on-stripes", meet_on_stripes},
    {"large-calls", large_calls},
    {"data-sieving", data_sieving},
    {"sieving-reads", sieving_reads},
    {"small-parts", small_parts},
    {"collective-blocks", collective_blocks},
    {"odd-blocks", odd_blocks},
    {"whole-parts", whole_parts},
    {"stdio-data", stdio_data},
    {"stdio-blocks", stdio_blocks},
    {"one-writer", one_writer},
    {"one-reader", one_reader},
    {"turns", turns},
    {"shared-turns", shared_turns},
    {"uneven-ranks", uneven_ranks},
    {"straggler", straggler},
    {"one-stripe-of-many", one_stripe_of_many},
    {"read-again", read_again},
    {"all-read", all_read},
    {"rewriting", rewriting},
    {"metadata", metadata},
    {"reopened", reopened},
    {"compute", compute},
    {"uneven-computing", uneven_computing},
    {"small-messages", small_messages},
    {"make-input", make_input},
};

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    folder = count > 2 ? words[2] : ".";
    scale = count > 3 ? atol(words[3]) : 1;
    data = calloc(1, 64 * MIB);
    int known = 0;
    for (size_t i = 0; data && count > 1 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(words[1], modes[i].name)) {
            modes[i].run();
            known = 1;
        }
    free(data);
    if (!known && rank == 0)
        fprintf(stderr, "usage: mpirun -np N faults MODE DIR [SCALE]\n");
    MPI_Finalize();
    return known ? 0 : 2;
}
