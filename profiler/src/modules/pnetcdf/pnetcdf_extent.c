#include "pnetcdf.h"

struct extent extent_all(void) { return (struct extent){.kind = EXTENT_ALL}; }

struct extent extent_one(void) { return (struct extent){.kind = EXTENT_ONE}; }

struct extent extent_block(const mpi_offset *count)
{
    return (struct extent){.kind = EXTENT_BLOCK, .count = count};
}

struct extent extent_strided(const mpi_offset *count, const mpi_offset *stride)
{
    return (struct extent){.kind = EXTENT_STRIDED, .count = count, .stride = stride};
}

struct extent extent_pieces(int pieces, mpi_offset *const *counts)
{
    return (struct extent){.kind = EXTENT_PIECES, .pieces = pieces, .counts = counts};
}

struct extent extent_type(mpi_type type) { return (struct extent){.kind = EXTENT_TYPE, .type = type}; }

struct parts parts_all(void) { return (struct parts){.kind = EXTENT_ALL}; }

struct parts parts_one(void) { return (struct parts){.kind = EXTENT_ONE}; }

struct parts parts_blocks(mpi_offset *const *counts)
{
    return (struct parts){.kind = EXTENT_BLOCK, .counts = counts};
}

struct parts parts_strided(mpi_offset *const *counts, mpi_offset *const *strides)
{
    return (struct parts){.kind = EXTENT_STRIDED, .counts = counts, .strides = strides};
}

struct extent extent_of(const struct several *several, int at)
{
    const struct parts *parts = &several->parts;
    return (struct extent){.kind = parts->kind,
                           .count = parts->counts ? parts->counts[at] : NULL,
                           .stride = parts->strides ? parts->strides[at] : NULL};
}
