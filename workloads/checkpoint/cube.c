#include "cube.h"

/* Returns the `at`-th of `parts` nearly equal parts of `count` cells; if they do not divide evenly, the first
 * parts have one cell more. */
static Block block_of(int count, int parts, int at)
{
    int base = count / parts, more = count % parts;
    return (Block){.first = at * base + (at < more ? at : more), .size = base + (at < more)};
}

Block cube_latitudes(const Cube *cube, int group)
{
    const Block *first = &cube->rows[group * cube->group_rows], *last = first + cube->group_rows - 1;
    return (Block){.first = first->first, .size = last->first + last->size - first->first};
}

static void lay_out(Cube *cube, const Problem *problem)
{
    cube->columns = allocate((size_t)problem->nx, sizeof(Block));
    cube->rows = allocate((size_t)FACES * problem->ny, sizeof(Block));
    for (int i = 0; i < problem->nx; i++)
        cube->columns[i] = block_of(problem->im_world, problem->nx, i);
    for (int row = 0; row < FACES * problem->ny; row++) {
        cube->rows[row] = block_of(problem->im_world, problem->ny, row % problem->ny);
        cube->rows[row].first += row / problem->ny * problem->im_world;
    }
}

void cube_make(Cube *cube, const Problem *problem, MPI_Comm world)
{
    *cube = (Cube){
        .world = world,
        .edge = problem->im_world,
        .latitudes = FACES * problem->im_world,
        .levels = problem->lm,
        .nx = problem->nx,
        .group_rows = FACES * problem->ny / problem->io_ranks,
        .groups = problem->io_ranks,
    };
    MPI_Comm_rank(world, &cube->rank);
    MPI_Comm_size(world, &cube->ranks);
    lay_out(cube, problem);
    int row = cube->rank / cube->nx, rank_in_group;
    cube->own[0] = cube->columns[cube->rank % cube->nx];
    cube->own[1] = cube->rows[row];
    cube->group_number = row / cube->group_rows;
    cube->first_row = cube->group_number * cube->group_rows;
    cube->group_latitudes = cube_latitudes(cube, cube->group_number);
    MPI_Comm_split(world, cube->group_number, cube->rank, &cube->group);
    MPI_Comm_rank(cube->group, &rank_in_group);
    MPI_Comm_split(world, rank_in_group == 0 ? 0 : MPI_UNDEFINED, cube->rank, &cube->io);
}

bool cube_has_io(const Cube *cube) { return cube->io != MPI_COMM_NULL; }
