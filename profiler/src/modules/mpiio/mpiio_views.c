#include "../../memory/area.h"
#include "../../runtime/context.h"
#include "../../system/spin.h"
#include "../../tables/process_table.h"
#include "../timelines/dxt.h"

enum { RUNS_MAX = 65536 }; /* Largest number of rows of one view that a spool may hold. */

/* A view that was stored; the list begins with the newest view. */
struct kept_view {
    struct kept_view *older;
    int64_t number, displacement, extent, bytes, runs; /* `runs` is -1 if the view is not described. */
    struct iolens_run run[];
};

struct mpiio_views {
    struct spin lock;
    struct kept_view *newest;
    int64_t next;
};

static bool is_like(const struct kept_view *kept, const struct iolens_view *view)
{
    return kept->displacement == view->displacement && kept->extent == view->extent &&
           kept->bytes == view->bytes && kept->runs == view->runs &&
           (view->runs <= 0 || memcmp(kept->run, view->run, (size_t)view->runs * sizeof *view->run) == 0);
}

static struct kept_view *keep(struct mpiio_views *views, const struct iolens_view *view)
{
    size_t runs = view->runs > 0 ? (size_t)view->runs : 0;
    size_t bytes = sizeof(struct kept_view) + runs * sizeof(struct iolens_run);
    struct kept_view *kept = dxt_take(bytes) ? arena_alloc(&iolens.arena, bytes) : NULL;
    if (!kept)
        return NULL;
    kept->number = views->next++;
    kept->displacement = view->displacement;
    kept->extent = view->extent;
    kept->bytes = view->bytes;
    kept->runs = view->runs;
    if (runs > 0)
        memcpy(kept->run, view->run, runs * sizeof *kept->run);
    kept->older = views->newest;
    views->newest = kept;
    return kept;
}

int64_t traced_view_add(const struct iolens_view *view)
{
    struct mpiio_views *views = table_state(TABLE_mpiio_views);
    if (!views)
        return -1;
    spin_lock(&views->lock);
    struct kept_view *kept =
        views->newest && is_like(views->newest, view) ? views->newest : keep(views, view);
    spin_unlock(&views->lock);
    return kept ? kept->number : -1;
}

struct row {
    int64_t rank, view, displacement, extent, bytes;
    int64_t offset, length, count1, stride1, count2, stride2, count3, stride3;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank that set the view"),
    COLUMN(view, "<i8", "view", "number of the view on this rank, as in `traced_events`"),
    COLUMN(displacement, "<i8", "B", "offset in the file where the view begins"),
    COLUMN(extent, "<i8", "B", "extent of the file type: distance after which it is repeated"),
    COLUMN(bytes, "<i8", "B", "bytes of data in one file type"),
    COLUMN(offset, "<i8", "B", "offset of the first piece from the start of the file type"),
    COLUMN(length, "<i8", "B",
           "length of every piece of this row; -1: the file type is too irregular to be described"),
    COLUMN(count1, "<i8", "pieces", "number of pieces in a group"),
    COLUMN(stride1, "<i8", "B", "distance between the starts of two neighbouring pieces of a group"),
    COLUMN(count2, "<i8", "groups", "number of groups of pieces in a group of the second level"),
    COLUMN(stride2, "<i8", "B", "distance between the starts of two neighbouring groups of pieces"),
    COLUMN(count3, "<i8", "groups", "number of groups of the second level in the row"),
    COLUMN(stride3, "<i8", "B", "distance between the starts of two neighbouring groups of the second level"),
};

static bool validate(const void *state, const struct area *area)
{
    for (const struct kept_view *kept = ((const struct mpiio_views *)state)->newest; kept; kept = kept->older)
        if (!area_holds(area, kept, sizeof *kept, 1) || kept->runs < -1 || kept->runs > RUNS_MAX ||
            (kept->runs > 0 && !area_holds(area, kept->run, sizeof *kept->run, (size_t)kept->runs)))
            return false;
    return true;
}

static void put(struct buffer *rows, const struct kept_view *kept, const struct iolens_run *run, int rank)
{
    struct row row = {rank,           kept->number,  kept->displacement, kept->extent,   kept->bytes,
                      run->offset,    run->bytes,    run->count[0],      run->stride[0], run->count[1],
                      run->stride[1], run->count[2], run->stride[2]};
    buffer_put(rows, &row, sizeof row);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    static const struct iolens_run unknown = {.bytes = -1};
    const struct mpiio_views *views = table_state_known(TABLE_mpiio_views);
    for (const struct kept_view *kept = views ? views->newest : NULL; kept; kept = kept->older) {
        if (kept->runs < 0)
            put(rows, kept, &unknown, transport->rank);
        for (int64_t i = 0; i < kept->runs; i++)
            put(rows, kept, &kept->run[i], transport->rank);
    }
}

const struct process_table table_mpiio_views = {
    .name = "mpiio_views",
    .meaning = "Equal pieces of a file at regular distances, which an MPI-IO view of a traced file makes "
               "visible. Pieces form groups, at up to three levels",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct mpiio_views),
    .recording.validate = validate,
    .merging.on_demand = true,
    .merging.collect = collect,
};
