/* Ghost points: each cell's two outermost planes go to its neighbours in the six directions. */
#ifndef BTIO_EXCHANGE_H
#define BTIO_EXCHANGE_H

#include "domain.h"

typedef struct Exchange {
    /* Index: direction * 2, plus 0 for the neighbour before or 1 for the one after. */
    double *send[6], *receive[6];
    int doubles[6]; /* Size of both buffers; a neighbour's planes have the size of one's own. */
} Exchange;

void exchange_make(Exchange *exchange, const Domain *domain);

/* Fills the ghost points of u from the ranks that own these points. Collective. */
void exchange_ghosts(const Exchange *exchange, const Domain *domain);

#endif
