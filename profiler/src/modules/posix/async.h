/* Asynchronous transfers through libaio (io_submit), recorded in the POSIX module when they complete. */
#ifndef IOLENS_ASYNC_H
#define IOLENS_ASYNC_H

#include <linux/aio_abi.h>

#include "../../runtime/wrap.h"

/* True in a thread while it is inside libaio's io_submit, which may make its system call by number. */
extern __thread bool async_submitting;

/* Entered before the call, since another thread may collect a request before the call returns. */
void async_before_submit(long count, struct iocb **control);

/* `taken` of `count` were accepted; negative: an error. */
void async_on_submit(int taken, long count, struct iocb **control);

/* `count` requests have completed; negative: an error. */
void async_on_events(const struct call *c, int count, const struct io_event *event);

#endif
