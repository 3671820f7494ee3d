/* Ghost points: each cell's two outermost planes go to its neighbours in the six directions. */
#ifndef BTIO_EXCHANGE_H
#define BTIO_EXCHANGE_H

#include "domain.h"

typedef struct Exchange {
    /* Buffers of the messages. The index of a message is direction * 2, plus 0 for the neighbour before or 1
       for the neighbour after. */
    double *send[6], *receive[6];
    /* Size of both buffers of a message in doubles; a neighbour's planes have the same size as this rank's.
     */
    int doubles[6];
} Exchange;

void exchange_make(Exchange *exchange, const Domain *domain);

/* Fills the ghost points of u from the ranks that own these points. Collective. */
void exchange_ghosts(const Exchange *exchange, const Domain *domain);

#endif
