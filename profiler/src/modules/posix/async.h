/* Asynchronous transfers through libaio (io_submit), recorded in the POSIX module when they complete. */
#ifndef IOLENS_ASYNC_H
#define IOLENS_ASYNC_H

#include <linux/aio_abi.h>

#include "../../runtime/wrap.h"

/* True in a thread while it is inside libaio's io_submit, which may make its system call by number. */
extern __thread bool async_submitting;

/* Stores requests before the call submits them, because another thread may collect them before the call
 * returns. */
void async_before_submit(long count, struct iocb **control);

/* Keeps the first `taken` of `count` requests, which the call accepted; a negative number is an error. */
void async_on_submit(int taken, long count, struct iocb **control);

/* Records `count` completed requests; a negative number is an error. */
void async_on_events(const struct call *c, int count, const struct io_event *event);

#endif
