/* Ghost points: each cell's two outermost planes go to its neighbours in the six directions. */
#ifndef BTIO_EXCHANGE_H
#define BTIO_EXCHANGE_H

#include "domain.h"

typedef struct Exchange {
    double *send[6], *receive[6]; /* direction * 2 + (0: to or from before, 1: after) */
    int doubles[6];               /* of either; a neighbour's planes are as large as one's own */
} Exchange;

void exchange_make(Exchange *exchange, const Domain *domain);

/* Fills the ghost points of u that have an owner. Collective. */
void exchange_ghosts(const Exchange *exchange, const Domain *domain);

#endif
