#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "two_phase.h"

void writes_note(WriteLog *log, const AggregatorWrite *write)
{
    if (log->count == log->room) {
        size_t room = log->room > 0 ? 2 * log->room : 1024;
        AggregatorWrite *list = allocate(room, sizeof *list);
        if (log->count > 0)
            memcpy(list, log->list, log->count * sizeof *list);
        free(log->list);
        log->list = list;
        log->room = room;
    }
    log->list[log->count++] = *write;
}

void writes_free(WriteLog *log)
{
    free(log->list);
    *log = (WriteLog){0};
}

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int in_time(const void *a, const void *b)
{
    const AggregatorWrite *one = a, *other = b;
    int order = compare(one->call, other->call);
    order = order != 0 ? order : compare(one->round, other->round);
    return order != 0 ? order : compare(one->offset, other->offset);
}

WriteLog writes_gather(const WriteLog *own, MPI_Comm comm)
{
    int rank, ranks, count = (int)own->count;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int *counts = allocate(ranks, sizeof *counts), *places = allocate(ranks, sizeof *places);
    WriteLog all = {0};
    MPI_Datatype type;
    MPI_Type_contiguous((int)(sizeof *own->list / sizeof(int64_t)), MPI_INT64_T, &type);
    MPI_Type_commit(&type);
    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, comm);
    for (int r = 0; r < ranks && rank == 0; r++) {
        places[r] = (int)all.count;
        all.count += (size_t)counts[r];
    }
    all.room = all.count;
    all.list = allocate(all.count, sizeof *all.list);
    MPI_Gatherv(own->list, count, type, all.list, counts, places, type, 0, comm);
    MPI_Type_free(&type);
    free(counts);
    free(places);
    qsort(all.list, all.count, sizeof *all.list, in_time);
    return all;
}

void writes_save(const WriteLog *log, const char *path, Trouble *trouble)
{
    char aside[PATH_MAX];
    snprintf(aside, sizeof aside, "%s.%ld.part", path, (long)getpid());
    FILE *out = fopen(aside, "w");
    bool good = out != NULL;
    if (good) {
        fputs("call,round,aggregator,rank,offset,bytes\n", out);
        for (size_t i = 0; i < log->count; i++) {
            const AggregatorWrite *write = &log->list[i];
            fprintf(out, "%lld,%lld,%lld,%lld,%lld,%lld\n", (long long)write->call, (long long)write->round,
                    (long long)write->aggregator, (long long)write->rank, (long long)write->offset,
                    (long long)write->bytes);
        }
        good = !ferror(out);
        good = fclose(out) == 0 && good && rename(aside, path) == 0;
    }
    if (!good) {
        trouble_note(trouble, "cannot write the log of writes %s: %s", path, strerror(errno));
        unlink(aside);
    }
}

int64_t writes_unaligned(const WriteLog *log, int64_t stripe_size)
{
    int64_t count = 0;
    for (size_t i = 0; i < log->count; i++)
        count += log->list[i].offset % stripe_size != 0 ||
                 (log->list[i].offset + log->list[i].bytes) % stripe_size != 0;
    return count;
}

/* Returns the number of stripes from the start of the file to the end of the last one that was written. */
static int64_t stripes_of(const WriteLog *log, int64_t stripe_size)
{
    int64_t end = 0;
    for (size_t i = 0; i < log->count; i++) {
        int64_t own = (log->list[i].offset + log->list[i].bytes + stripe_size - 1) / stripe_size;
        end = own > end ? own : end;
    }
    return end;
}

Sharing writes_sharing(const WriteLog *log, int64_t stripe_size, int64_t objects, int aggregators)
{
    int64_t stripes = stripes_of(log, stripe_size), pairs = 0;
    int64_t units = objects > 0 ? objects : stripes;
    Sharing sharing = {0};
    /* For each unit 1 + the number of the aggregator that wrote it last; 0: none yet. */
    int64_t *latest = allocate((size_t)units, sizeof *latest);
    bool *seen = allocate((size_t)units * (size_t)aggregators, sizeof *seen);
    for (size_t i = 0; i < log->count; i++) {
        const AggregatorWrite *write = &log->list[i];
        int64_t last = (write->offset + write->bytes - 1) / stripe_size;
        for (int64_t stripe = write->offset / stripe_size; stripe <= last; stripe++) {
            int64_t unit = stripe % units;
            sharing.changes += latest[unit] != 0 && latest[unit] != write->aggregator + 1;
            latest[unit] = write->aggregator + 1;
            seen[unit * aggregators + write->aggregator] = true;
        }
    }
    for (int64_t unit = 0; unit < units; unit++) {
        int64_t distinct = 0;
        for (int a = 0; a < aggregators; a++)
            distinct += seen[unit * aggregators + a];
        sharing.units += distinct > 0;
        sharing.most = distinct > sharing.most ? distinct : sharing.most;
        pairs += distinct;
    }
    sharing.mean = sharing.units > 0 ? (double)pairs / (double)sharing.units : 0.0;
    free(latest);
    free(seen);
    return sharing;
}
