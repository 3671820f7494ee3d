/* Tests parts of btio one by one: the multipartition, the discrete operator, Fortran's number format,
 * Lustre's layouts. Run with any square number of ranks; prints what is wrong and exits 1. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain.h"
#include "exact.h"
#include "run.h"
#include "solve.h"
#include "file_domain.h"

static int wrong;

static void expect(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    wrong = 1;
}

/* Checks that every point has one owner, and that a neighbour along each direction owns the next cell. */
static void check_partition(const Domain *domain)
{
    const int *grid = domain->grid;
    size_t points = (size_t)grid[0] * grid[1] * grid[2];
    int *owners = calloc(points, sizeof *owners);
    for (int c = 0; c < domain->edge; c++) {
        const Cell *cell = &domain->cells[c];
        for (int z = 0; z < cell->size[2]; z++)
            for (int y = 0; y < cell->size[1]; y++)
                for (int x = 0; x < cell->size[0]; x++)
                    owners[cell->low[0] + x +
                           (size_t)grid[0] * (cell->low[1] + y + (size_t)grid[1] * (cell->low[2] + z))]++;
        expect(domain->rank ==
                   (cell->coordinate[0] - cell->coordinate[2] + domain->edge) % domain->edge +
                       domain->edge * ((cell->coordinate[1] + cell->coordinate[2]) % domain->edge),
               "owner of a cell");
    }
    MPI_Allreduce(MPI_IN_PLACE, owners, (int)points, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (size_t k = 0; k < points; k++)
        expect(owners[k] == 1, "each point has one owner");
    free(owners);
}

/* Checks the neighbours of nine ranks, which were computed by hand. */
static void check_neighbours(const Domain *domain)
{
    static const int before[9][3] = {{2, 6, 7}, {0, 7, 8}, {1, 8, 6}, {5, 0, 1}, {3, 1, 2},
                                     {4, 2, 0}, {8, 3, 4}, {6, 4, 5}, {7, 5, 3}};
    static const int after[9][3] = {{1, 3, 5}, {2, 4, 3}, {0, 5, 4}, {4, 6, 8}, {5, 7, 6},
                                    {3, 8, 7}, {7, 0, 2}, {8, 1, 0}, {6, 2, 1}};
    for (int d = 0; d < 3 && domain->ranks == 9; d++) {
        expect(domain->before[d] == before[domain->rank][d], "rank before");
        expect(domain->after[d] == after[domain->rank][d], "rank after");
    }
}

/* Checks that the exact solution stays constant with the forcing that was made for it. */
static void check_stationary(const Domain *domain)
{
    Exact exact;
    Exchange exchange;
    double norm[COMPONENTS];
    exact_make(&exact, domain->grid);
    exchange_make(&exchange, domain);
    compute_forcing(domain, &exact, &exchange);
    compute_rhs(domain, 1.0);
    interior_norm(domain, rhs_of, 1.0, norm);
    for (int m = 0; m < COMPONENTS; m++)
        expect(norm[m] <= 1e-10, "the exact solution is stationary");
}

static void check_exponent(double value, int digits, const char *expected)
{
    char text[40];
    exponent_form(value, digits, text);
    expect(strcmp(text, expected) == 0, expected);
}

static size_t attribute_length;
static unsigned char attribute[64];

/* Replaces the C library's function: returns the bytes that are set below as the layout of every file, and
 * fails if there are none. */
ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    (void)path;
    if (attribute_length == 0 || attribute_length > size || strcmp(name, "lustre.lov") != 0) {
        errno = ENODATA;
        return -1;
    }
    memcpy(value, attribute, attribute_length);
    return (ssize_t)attribute_length;
}

static Layout layout_with(uint32_t magic, uint32_t stripe_size, uint16_t stripe_count)
{
    memset(attribute, 0, sizeof attribute);
    memcpy(attribute, &magic, sizeof magic);
    memcpy(attribute + 24, &stripe_size, sizeof stripe_size);
    memcpy(attribute + 28, &stripe_count, sizeof stripe_count);
    attribute_length = 56;
    return layout_of("anything");
}

static void check_layout(void)
{
    expect(layout_of("anything").stripe_count == 0, "no attribute, no stripes");
    Layout first = layout_with(0x0BD10BD0, 1 << 20, 4), third = layout_with(0x0BD30BD0, 65536, 12);
    expect(first.stripe_count == 4 && first.stripe_size == 1 << 20, "layout version 1");
    expect(third.stripe_count == 12 && third.stripe_size == 65536, "layout version 3");
    expect(layout_with(0x0BD60BD0, 1, 1).stripe_count == 0, "a composite layout is unknown");
}

int main(int argc, char **argv)
{
    Domain domain;
    int grid[3] = {13, 11, 12};
    MPI_Init(&argc, &argv);
    domain_make(&domain, grid, true, MPI_COMM_WORLD);
    check_partition(&domain);
    check_neighbours(&domain);
    check_stationary(&domain);
    check_exponent(0.17034283709541311, 13, "0.1703428370954E+00");
    check_exponent(-1234.5, 5, "-0.12345E+04");
    check_exponent(0.0, 13, "0.0000000000000E+00");
    check_exponent(0.01, 8, "0.10000000E-01");
    check_exponent(9.9999999e-11, 3, "0.100E-09");
    check_layout();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
