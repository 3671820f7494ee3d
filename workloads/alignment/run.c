#include "run.h"

#include <stdlib.h>
#include <unistd.h>

enum { WORDS_PER_STAMP = 512 };

static void remove_file(Run *run)
{
    MPI_Barrier(run->comm);
    if (run->rank == 0)
        unlink(run->path);
}

static void check_trouble(Run *run)
{
    if (!trouble_shared(&run->trouble, run->comm))
        return;
    remove_file(run);
    fail(EXIT_FAILED, "%s", run->trouble.text);
}

/* Returns word `at` of the transfer that begins at byte `offset` of the file. Only one word in each page
 * depends on the offset, so that changing the buffer for the next transfer takes negligible time. */
static uint64_t word(int64_t offset, int64_t at)
{
    uint64_t place = (uint64_t)at + (at % WORDS_PER_STAMP == 0 ? (uint64_t)offset : 0);
    return place * 0x9e3779b97f4a7c15u + 1;
}

static Piece piece_of(const Run *run, int segment, int rank)
{
    int64_t bytes = run->config->transfer;
    return (Piece){((int64_t)segment * run->ranks + rank) * bytes, bytes};
}

static void open_file(Run *run, bool writing)
{
    two_phase_open(&run->file, run->path, writing, (DomainKind)run->config->align, &run->config->hints,
                   run->comm, &run->trouble);
    check_trouble(run);
}

static void write_file(Run *run)
{
    for (int64_t at = 0; at < run->words; at++)
        run->data[at] = word(0, at);
    MPI_Barrier(run->comm);
    double start = MPI_Wtime();
    open_file(run, true);
    for (int segment = 0; segment < run->config->segments; segment++) {
        Piece piece = piece_of(run, segment, run->rank);
        for (int64_t at = 0; at < run->words; at += WORDS_PER_STAMP)
            run->data[at] = word(piece.offset, at);
        two_phase_write(&run->file, &piece, 1, run->data);
        check_trouble(run);
    }
    two_phase_hints(&run->file, &run->effective);
    two_phase_close(&run->file, run->config->fsync);
    run->write_seconds = MPI_Wtime() - start;
    check_trouble(run);
}

/* Reads the file and checks it. Each rank reads what the next rank wrote, so that no rank finds the data in
 * its own cache. */
static void read_file(Run *run)
{
    double checking = 0.0;
    MPI_Barrier(run->comm);
    double start = MPI_Wtime();
    open_file(run, false);
    for (int segment = 0; segment < run->config->segments; segment++) {
        Piece piece = piece_of(run, segment, (run->rank + 1) % run->ranks);
        two_phase_read(&run->file, &piece, 1, run->data);
        check_trouble(run);
        double moved = MPI_Wtime();
        for (int64_t at = 0; at < run->words; at++)
            run->wrong += run->data[at] != word(piece.offset, at);
        checking += MPI_Wtime() - moved;
    }
    two_phase_close(&run->file, false);
    run->read_seconds = MPI_Wtime() - start - checking;
    check_trouble(run);
    MPI_Allreduce(MPI_IN_PLACE, &run->wrong, 1, MPI_LONG_LONG, MPI_SUM, run->comm);
}

void run_all(Run *run, const Config *config, MPI_Comm comm)
{
    *run = (Run){.config = config, .comm = comm};
    MPI_Comm_rank(comm, &run->rank);
    MPI_Comm_size(comm, &run->ranks);
    if (snprintf(run->path, sizeof run->path, "%s/alignment.out", config->directory) >= PATH_MAX)
        fail(EXIT_USAGE, "--directory: the path is too long");
    run->words = config->transfer / (int64_t)sizeof *run->data;
    run->data = allocate((size_t)run->words, sizeof *run->data);
    remove_file(run);
    MPI_Barrier(comm);
    double start = MPI_Wtime();
    write_file(run);
    WriteLog writes = run->file.writes;
    run->looked_at = result_file(run->path);
    read_file(run);
    run->file.writes = writes;
    run->total_seconds = MPI_Wtime() - start;
    free(run->data);
    if (!config->keep)
        remove_file(run);
}
