#include "async.h"

#include "posix.h"

__thread bool async_submitting;

/* Returns the direction in which a request moves bytes, or none. A request with a vector has the vector's
 * length in aio_nbytes. */
static enum posix_direction direction_of(const struct iocb *control)
{
    switch (control->aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PREADV:
        return POSIX_READING;
    case IOCB_CMD_PWRITE:
    case IOCB_CMD_PWRITEV:
        return POSIX_WRITING;
    default:
        return POSIX_NOTHING;
    }
}

static bool is_aligned(const struct iocb *control)
{
    const void *memory = (const void *)(uintptr_t)control->aio_buf;
    bool vector = control->aio_lio_opcode == IOCB_CMD_PREADV || control->aio_lio_opcode == IOCB_CMD_PWRITEV;
    return vector ? posix_all_aligned(memory, (int)control->aio_nbytes) : posix_aligned(memory);
}

void async_before_submit(long count, struct iocb **control)
{
    async_submitting = true;
    for (long i = 0; i < count; i++) {
        enum posix_direction direction = direction_of(control[i]);
        int fd = (int)control[i]->aio_fildes;
        struct open_file *open = direction == POSIX_NOTHING ? NULL : fds_sure(fd);
        struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
        if (s)
            aio_add((struct aio_request){.control = control[i],
                                         .state = s,
                                         .direction = direction,
                                         .fd = fd,
                                         .offset = control[i]->aio_offset,
                                         .aligned = is_aligned(control[i]),
                                         .submitted = clock_now(&iolens.clock)});
    }
}

void async_on_submit(int taken, long count, struct iocb **control)
{
    struct aio_request refused;
    async_submitting = false;
    for (long i = taken < 0 ? 0 : taken; i < count; i++)
        aio_take(control[i], &refused);
}

void async_on_events(const struct call *c, int count, const struct io_event *event)
{
    struct aio_request request;
    for (int i = 0; i < count; i++)
        if (aio_take((const void *)(uintptr_t)event[i].obj, &request))
            posix_on_complete(&request, c->t1, event[i].res);
}
