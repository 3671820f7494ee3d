/* Makes rows of the log from the counts of MPI calls: mpi_sites has a row for each place that called,
 * mpi_calls one for all places together. */
#ifndef IOLENS_MPI_SITE_ROWS_H
#define IOLENS_MPI_SITE_ROWS_H

#include "../../tables/process_table.h"
#include "mpi_sites.h"

struct row {
    int64_t rank;
    char function[48];
    uint32_t region;
    int32_t node;
    int64_t calls;
    double time, min_time, max_time, sync_time, recording;
    int64_t bytes_sent, bytes_received, messages, size[MPI_SIZES], late_receives;
};

/* Columns that mpi_sites and mpi_calls both have. */
#define MPI_WHO                                                                                              \
    MERGED(rank, "<i8", "rank", "the rank that called; -1: several ranks", COLUMN_RANK),                     \
        {"function", "S48",      "",       "name of the function", offsetof(struct row, function),           \
         48,         COLUMN_KEY, TEXT_WORD},                                                                 \
        MERGED(region, "<u4", "region",                                                                      \
               "the region of the call, a row of `region_names`; 0: outside all regions, 4294967295: "       \
               "several regions",                                                                            \
               COLUMN_KEY)
#define MPI_TIMES                                                                                            \
    MERGED(calls, "<i8", "calls", "calls that returned", COLUMN_SUM),                                        \
        MERGED(time, "<f8", "s", "time in these calls", COLUMN_SUM),                                         \
        MERGED(min_time, "<f8", "s", "shortest call", COLUMN_SMALLEST),                                      \
        MERGED(max_time, "<f8", "s", "longest call", COLUMN_LARGEST)
#define MPI_SIZE(class, meaning)                                                                             \
    {                                                                                                        \
        "size_" #class, "<i8", "messages", meaning, offsetof(struct row, size[class]), sizeof(int64_t),      \
            COLUMN_SUM, TEXT_NONE                                                                            \
    }
#define MPI_MESSAGES                                                                                         \
    MERGED(bytes_sent, "<i8", "B", "bytes sent; for collective calls, bytes that this rank contributed",     \
           COLUMN_SUM),                                                                                      \
        MERGED(bytes_received, "<i8", "B", "bytes received, counted in the call that completed the receive", \
               COLUMN_SUM),                                                                                  \
        MERGED(messages, "<i8", "messages",                                                                  \
               "messages sent, messages fetched from windows, and contributions to collective calls",        \
               COLUMN_SUM),                                                                                  \
        MPI_SIZE(0, "messages below 16 B"), MPI_SIZE(1, "messages from 16 B and below 256 B"),               \
        MPI_SIZE(2, "messages from 256 B and below 4 KiB"),                                                  \
        MPI_SIZE(3, "messages from 4 KiB and below 64 KiB"),                                                 \
        MPI_SIZE(4, "messages from 64 KiB and below 1 MiB"),                                                 \
        MPI_SIZE(5, "messages from 1 MiB and below 16 MiB"), MPI_SIZE(6, "messages from 16 MiB on")

/* Appends a row for each MPI call site of a rank; rows that agree in all key columns are merged. */
void mpi_site_rows(enum process_table_index table, int rank, struct buffer *rows);

/* Makes a row stand for all ranks, regions and places that called its function. Both tables use it as their
 * hook `rest`. */
size_t mpi_site_rest(void *row);

#endif
