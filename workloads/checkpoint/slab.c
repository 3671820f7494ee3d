#include "cube.h"

long long slab_cells(const Cube *cube, int group, int levels)
{
    return (long long)cube->edge * cube_latitudes(cube, group).size * levels;
}

void slab_make(Slab *slab, const Cube *cube, int levels)
{
    int members = cube->nx * cube->group_rows, start = 0;
    *slab = (Slab){
        .cube = cube,
        .levels = levels,
        .own_count = cube->own[0].size * cube->own[1].size * levels,
        .counts = allocate((size_t)members, sizeof(int)),
        .starts = allocate((size_t)members, sizeof(int)),
    };
    for (int at = 0; at < members; at++) {
        const Block *row = &cube->rows[cube->first_row + at / cube->nx];
        slab->counts[at] = cube->columns[at % cube->nx].size * row->size * levels;
        slab->starts[at] = start;
        start += slab->counts[at];
    }
    if (cube_has_io(cube)) {
        slab->packed = allocate((size_t)start, sizeof(float));
        slab->field = allocate((size_t)start, sizeof(float));
    }
}

void slab_gather(Slab *slab, const float *part)
{
    double start = MPI_Wtime();
    MPI_Gatherv(part, slab->own_count, MPI_FLOAT, slab->packed, slab->counts, slab->starts, MPI_FLOAT, 0,
                slab->cube->group);
    slab->moving += MPI_Wtime() - start;
}

void slab_scatter(Slab *slab, float *part)
{
    double start = MPI_Wtime();
    MPI_Scatterv(slab->packed, slab->counts, slab->starts, MPI_FLOAT, part, slab->own_count, MPI_FLOAT, 0,
                 slab->cube->group);
    slab->moving += MPI_Wtime() - start;
}

/* Copies the block of one member from the packed buffer to the field, or back, row by row. */
static void copy_block(const Slab *slab, int member, bool to_field)
{
    const Cube *cube = slab->cube;
    const Block *column = &cube->columns[member % cube->nx];
    const Block *row = &cube->rows[cube->first_row + member / cube->nx];
    size_t bytes = (size_t)column->size * sizeof(float);
    float *packed = slab->packed + slab->starts[member];
    for (int level = 0; level < slab->levels; level++)
        for (int y = 0; y < row->size; y++, packed += column->size) {
            size_t latitude = (size_t)level * (size_t)cube->group_latitudes.size +
                              (size_t)(row->first - cube->group_latitudes.first + y);
            float *field = slab->field + latitude * (size_t)cube->edge + column->first;
            memcpy(to_field ? field : packed, to_field ? packed : field, bytes);
        }
}

static void copy_blocks(const Slab *slab, bool to_field)
{
    for (int member = 0; member < slab->cube->nx * slab->cube->group_rows; member++)
        copy_block(slab, member, to_field);
}

void slab_unpack(Slab *slab) { copy_blocks(slab, true); }

void slab_pack(Slab *slab) { copy_blocks(slab, false); }
