#include "unfollowed.h"

#include "../core/context.h"
#include "../core/table.h"

void unfollowed_add(enum unfollowed which)
{
    iolens.unfollowed.calls[which]++;
    if (iolens.spool.header)
        iolens.spool.header->unfollowed.calls[which]++;
}

struct row {
    int64_t rank, calls[UNFOLLOWED_KINDS];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank that these numbers are of"),
#define UNFOLLOWED(name, meaning)                                                                            \
    {#name, "<i8", "calls", meaning, offsetof(struct row, calls) + UNFOLLOWED_##name * sizeof(int64_t), 8},
#include "unfollowed.def"
#undef UNFOLLOWED
};

void unfollowed_table_write(const struct iolens_transport *transport, struct buffer *out)
{
    struct row row = {.rank = transport->rank};
    int64_t any = 0;
    for (int i = 0; i < UNFOLLOWED_KINDS; i++)
        any += row.calls[i] = iolens.unfollowed.calls[i];
    table_write(out, COLUMNS, sizeof COLUMNS / sizeof *COLUMNS, &row, sizeof row, any > 0);
}
