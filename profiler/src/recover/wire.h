/* The protocol between ranks and hub: a call with its bytes, then the answer's bytes. */
#ifndef IOLENS_WIRE_H
#define IOLENS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../adapter.h"

enum wire_call { WIRE_BARRIER, WIRE_BCAST, WIRE_ALLREDUCE, WIRE_EXSCAN, WIRE_GATHER, WIRE_REDUCE };

struct wire {
    enum wire_call call;
    enum iolens_type type;
    enum iolens_op op;
    size_t item_bytes,
        items; /* Numbers of bytes and items that each rank sends; in a broadcast only rank 0 sends. */
    iolens_combine_fn *combine;
};

bool wire_send(int socket, const void *bytes, size_t count);
bool wire_receive(int socket, void *bytes, size_t count);

#endif
