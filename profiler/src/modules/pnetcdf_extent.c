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
