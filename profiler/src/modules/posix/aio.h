/* Pending asynchronous requests, from submission to aio_return. They are found by the address of their
 * control block, which may no longer exist when the request completes. */
#ifndef IOLENS_AIO_H
#define IOLENS_AIO_H

#include <stdbool.h>
#include <stdint.h>

#include "../../system/spin.h"

struct aio_request {
    const void *control;
    void *state;   /* State of the file: a struct posix_state. */
    int direction; /* Direction of the transfer: an enum posix_direction. */
    int fd;
    int64_t offset;
    bool aligned;
    double submitted;
    struct aio_request *next;
};

enum { AIO_BUCKETS = 256 };

struct aio {
    struct spin lock;
    struct aio_request *buckets[AIO_BUCKETS];
    struct aio_request *free;
};

/* Forgets all requests. */
void aio_reset(void);

/* Stores a copy of `request`, all members but `next`. */
void aio_add(struct aio_request request);

/* Moves the request with this control block to `request`; returns false if it was not recorded. */
bool aio_take(const void *control, struct aio_request *request);

#endif
