/* Asynchronous requests between submission and aio_return, by the address of their control
 * block, which may be gone when the request completes. */
#ifndef IOLENS_AIO_H
#define IOLENS_AIO_H

#include <stdbool.h>
#include <stdint.h>

#include "../../system/spin.h"

struct aio_request {
    const void *control;
    void *state;   /* struct posix_state */
    int direction; /* enum posix_direction */
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

/* Forget all requests. */
void aio_reset(void);

/* `request` with all but `next`. */
void aio_add(struct aio_request request);

/* Move the request of `control` to `request`; false when it was not recorded. */
bool aio_take(const void *control, struct aio_request *request);

#endif
