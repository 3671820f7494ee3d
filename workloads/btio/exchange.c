#include "domain.h"
#include "fail.h"

/* Copies GHOSTS planes of a cell to `buffer`, or back from it if `out` is false. The first plane has the
 * local index `first` along `direction`. Returns the place in `buffer` behind the planes. */
static double *copy_planes(const Cell *cell, int direction, int first, double *buffer, bool out)
{
    int from[3] = {0, 0, 0}, to[3] = {cell->size[0], cell->size[1], cell->size[2]};
    from[direction] = first;
    to[direction] = first + GHOSTS;
    for (int m = 0; m < COMPONENTS; m++)
        for (int z = from[2]; z < to[2]; z++)
            for (int y = from[1]; y < to[1]; y++) {
                double *row = point_of(cell, cell->u + m * cell->component, from[0], y, z);
                for (int x = 0; x < to[0] - from[0]; x++, buffer++) {
                    if (out)
                        *buffer = row[x];
                    else
                        row[x] = *buffer;
                }
            }
    return buffer;
}

static int plane_doubles(const Cell *cell, int direction)
{
    return GHOSTS * COMPONENTS * cell->size[(direction + 1) % 3] * cell->size[(direction + 2) % 3];
}

/* Allocates the buffers of the six messages. Message 2d goes to the previous neighbour along direction d,
 * from all cells but those at coordinate 0; message 2d + 1 to the next neighbour, from all cells but the
 * last. The message that a rank receives from its previous neighbour is that neighbour's message to its next
 * one. */
void exchange_make(Exchange *exchange, const Domain *domain)
{
    for (int message = 0; message < 6; message++) {
        int direction = message / 2, doubles = 0;
        for (int at = 0; at < domain->edge; at++)
            if (message % 2 == 0 ? at > 0 : at < domain->edge - 1)
                doubles += plane_doubles(domain_slice(domain, direction, at), direction);
        exchange->doubles[message] = doubles;
        exchange->send[message] = allocate(doubles, sizeof(double));
        exchange->receive[message] = allocate(doubles, sizeof(double));
    }
}

static void pack(const Exchange *exchange, const Domain *domain, int direction)
{
    double *before = exchange->send[2 * direction], *after = exchange->send[2 * direction + 1];
    for (int at = 0; at < domain->edge; at++) {
        const Cell *cell = domain_slice(domain, direction, at);
        if (at > 0)
            before = copy_planes(cell, direction, 0, before, true);
        if (at < domain->edge - 1)
            after = copy_planes(cell, direction, cell->size[direction] - GHOSTS, after, true);
    }
}

static void unpack(const Exchange *exchange, const Domain *domain, int direction)
{
    double *before = exchange->receive[2 * direction], *after = exchange->receive[2 * direction + 1];
    for (int at = 0; at < domain->edge; at++) {
        const Cell *cell = domain_slice(domain, direction, at);
        if (at > 0)
            before = copy_planes(cell, direction, -GHOSTS, before, false);
        if (at < domain->edge - 1)
            after = copy_planes(cell, direction, cell->size[direction], after, false);
    }
}

void exchange_ghosts(const Exchange *exchange, const Domain *domain)
{
    MPI_Request requests[12];
    if (domain->edge == 1)
        return;
    for (int message = 0; message < 6; message++) {
        int direction = message / 2, opposite = message ^ 1;
        int peer = message % 2 ? domain->after[direction] : domain->before[direction];
        MPI_Irecv(exchange->receive[message], exchange->doubles[message], MPI_DOUBLE, peer, opposite,
                  domain->comm, &requests[message]);
    }
    for (int message = 0; message < 6; message++) {
        int direction = message / 2;
        int peer = message % 2 ? domain->after[direction] : domain->before[direction];
        if (message % 2 == 0)
            pack(exchange, domain, direction);
        MPI_Isend(exchange->send[message], exchange->doubles[message], MPI_DOUBLE, peer, message,
                  domain->comm, &requests[6 + message]);
    }
    MPI_Waitall(12, requests, MPI_STATUSES_IGNORE);
    for (int direction = 0; direction < 3; direction++)
        unpack(exchange, domain, direction);
}
