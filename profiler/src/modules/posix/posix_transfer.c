/* The functions of the POSIX module that record transfers. */
#include "../../system/system_call.h"
#include "../failed_calls.h"
#include "../histogram.h"
#include "../io_watch.h"
#include "../lustre/lustre.h"
#include "../timelines/dxt.h"
#include "../timer.h"
#include "posix.h"

/* Indices of the counters of one direction. */
struct direction {
    enum posix_int calls, bytes, max_byte, consecutive, sequential, first_bucket, longest_bytes;
    enum posix_double begin, end, time, longest;
};

static const struct direction READING = {
    POSIX_READS,      POSIX_BYTES_READ,      POSIX_MAX_BYTE_READ,      POSIX_CONSEC_READS,
    POSIX_SEQ_READS,  POSIX_SIZE_READ_0_100, POSIX_MAX_READ_TIME_SIZE, POSIX_F_READ_START,
    POSIX_F_READ_END, POSIX_F_READ_TIME,     POSIX_F_MAX_READ_TIME};

static const struct direction WRITING = {
    POSIX_WRITES,      POSIX_BYTES_WRITTEN,    POSIX_MAX_BYTE_WRITTEN,    POSIX_CONSEC_WRITES,
    POSIX_SEQ_WRITES,  POSIX_SIZE_WRITE_0_100, POSIX_MAX_WRITE_TIME_SIZE, POSIX_F_WRITE_START,
    POSIX_F_WRITE_END, POSIX_F_WRITE_TIME,     POSIX_F_MAX_WRITE_TIME};

/* Counts whether an access is sequential (it begins after the last byte of the previous one in its direction)
 * or consecutive (it begins exactly there), and the gap between both. */
__attribute__((always_inline)) static inline void add_pattern(struct posix_state *s,
                                                              const struct direction *d, int64_t *last_byte,
                                                              int64_t offset, int64_t bytes)
{
    int64_t *ints = s->record.ints, previous = *last_byte, last = offset + bytes - 1;
    int64_t gap = offset - previous - 1;
    ints[d->sequential] += gap >= 0;
    ints[d->consecutive] += gap == 0;
    if (gap > 0 && previous != 0)
        frequent_add(&s->stride, gap);
    *last_byte = last;
    if (last > ints[d->max_byte])
        ints[d->max_byte] = last;
}

/* Counts the size of an access that differs from the previous size. A size of 0 is neither remembered nor
 * searched for, because the list of frequent values cannot hold it. */
static int take_size(struct posix_state *s, struct frequent_values *sizes, enum posix_int first_bucket,
                     int which, int64_t bytes)
{
    int bucket = first_bucket + histogram_bucket(bytes);
    if (bytes == 0)
        return bucket;
    s->bucket[which] = bucket;
    frequent_search(sizes, bytes);
    if (bytes > s->largest[which])
        s->largest[which] = bytes;
    return bucket;
}

static bool is_misaligned(int64_t unit, int64_t offset)
{
    bool power_of_two = (unit & (unit - 1)) == 0;
    return unit > 0 && (power_of_two ? offset & (unit - 1) : offset % unit) != 0;
}

/* Adds a transfer to the record of its file. Inlined once per direction, so that all indices are constants.
 */
__attribute__((always_inline)) static inline void add_transfer(struct posix_state *s,
                                                               enum posix_direction direction,
                                                               const struct call *c, int64_t offset,
                                                               int64_t bytes, bool aligned)
{
    const struct direction *d = direction == POSIX_READING ? &READING : &WRITING;
    int which = direction == POSIX_READING ? POSIX_READ_END : POSIX_WRITE_END;
    struct frequent_values *sizes = direction == POSIX_READING ? &s->read_size : &s->write_size;
    int64_t *ints = s->record.ints;
    double *doubles = s->record.doubles, t0 = c->t0, t1 = c->t1;

    add_pattern(s, d, direction == POSIX_READING ? &s->last_byte_read : &s->last_byte_written, offset, bytes);
    ints[d->calls]++;
    ints[d->bytes] += bytes;
    int bucket = s->bucket[which];
    if (!frequent_again(sizes, bytes))
        bucket = take_size(s, sizes, d->first_bucket, which, bytes);
    ints[bucket]++;
    bool misaligned = is_misaligned(ints[POSIX_FILE_ALIGNMENT], offset);
    ints[POSIX_MEM_NOT_ALIGNED] += !aligned;
    ints[POSIX_FILE_NOT_ALIGNED] += misaligned;
    s->writes_not_aligned += misaligned && direction == POSIX_WRITING;
    ints[POSIX_RW_SWITCHES] += s->latest == (direction == POSIX_READING ? POSIX_WRITING : POSIX_READING);
    s->latest = direction;
    timer_stamp(&doubles[d->begin], &doubles[d->end], t0, t1);
    heat_add(&s->heat, HEATMAP_POSIX, direction == POSIX_WRITING, bytes, t0, t1);
    dxt_add(s->dxt, direction == POSIX_WRITING, offset, bytes, t0, t1);
    timer_add(&doubles[d->time], &s->last_end[which], t0, t1);
    if (t1 - t0 > doubles[d->longest]) {
        doubles[d->longest] = t1 - t0;
        ints[d->longest_bytes] = bytes;
    }
}

/* Adds a transfer of no bytes, as a read at the end of a file. It reaches no byte of the file, wherever it
 * began: unlike in Darshan, the largest byte stays. */
static void add_empty(struct posix_state *s, enum posix_direction direction, const struct call *c,
                      int64_t offset, bool aligned)
{
    int64_t *reached =
        &s->record.ints[direction == POSIX_READING ? POSIX_MAX_BYTE_READ : POSIX_MAX_BYTE_WRITTEN];
    int64_t before = *reached;
    add_transfer(s, direction, c, offset, 0, aligned);
    *reached = before;
}

int64_t posix_begin_at_end(int fd, int64_t bytes)
{
    struct stat info;
    return file_info_fd(fd, &info) == 0 && info.st_size >= bytes ? info.st_size - bytes : 0;
}

/* Returns the offset at which a transfer began, if only the kernel knows the file position. On Linux even a
 * write at an explicit offset (pwrite) appends if the file is in append mode. */
static int64_t asked_begin(struct open_file *open, int fd, enum posix_direction direction, int64_t offset,
                           int64_t bytes)
{
    if (offset != POSIX_AT_POSITION)
        return open->append && direction == POSIX_WRITING ? posix_begin_at_end(fd, bytes) : offset;
    off_t now = system_call(SYS_lseek, fd, 0L, SEEK_CUR);
    open->offset = now >= bytes ? now : open->offset + bytes;
    open->asks &= ~FDS_ONCE;
    return open->offset - bytes;
}

/* Returns the offset at which the access began. An access that gives no offset also moves the file
 * position. */
static inline int64_t begin_of(struct open_file *open, int64_t offset, int64_t bytes)
{
    if (offset != POSIX_AT_POSITION)
        return offset;
    open->offset += bytes;
    return open->offset - bytes;
}

/* Records a transfer of a file that moved no bytes. */
static void on_empty_transfer(const struct call *c, enum posix_direction direction, int fd, int64_t offset,
                              bool aligned)
{
    struct open_file *open = fds_sure(fd);
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (!s)
        return;
    if (open->asks)
        offset = asked_begin(open, fd, direction, offset, 0);
    spin_lock(&s->lock);
    add_empty(s, direction, c, begin_of(open, offset, 0), aligned);
    spin_unlock(&s->lock);
    io_watch_call(c, "POSIX", s->record.base.id, 0);
}

/* Counts a failed transfer of a recorded file. Sockets and pipes, from which a read fails if there is no
 * data, are not recorded files. */
static void on_failed_transfer(const struct call *c, enum posix_direction direction, int fd)
{
    int error = *errno_place();
    /* These errors also tell that the descriptor was closed unseen. */
    if (error == EBADF || error == ESPIPE)
        fds_doubt_one(fd);
    struct open_file *open = fds_sure(fd);
    if (open && fds_file(open))
        failed_calls_add(c, direction == POSIX_READING ? FAILED_read : FAILED_write, error);
}

/* Records a transfer by a descriptor that may belong to another file by now. */
__attribute__((noinline)) static void on_doubted_transfer(const struct call *c,
                                                          enum posix_direction direction, int fd,
                                                          ssize_t bytes, int64_t offset, bool aligned)
{
    if (!fds_sure(fd))
        return;
    if (direction == POSIX_READING)
        posix_on_read(c, fd, bytes, offset, aligned);
    else
        posix_on_write(c, fd, bytes, offset, aligned);
}

/* Records a call that moved no bytes, or failed. */
__attribute__((noinline)) static void on_nothing(const struct call *c, enum posix_direction direction, int fd,
                                                 ssize_t bytes, int64_t offset, bool aligned)
{
    if (bytes < 0)
        on_failed_transfer(c, direction, fd);
    else
        on_empty_transfer(c, direction, fd, offset, aligned);
}

__attribute__((always_inline)) static inline void on_transfer(const struct call *c,
                                                              enum posix_direction direction, int fd,
                                                              ssize_t bytes, int64_t offset, bool aligned)
{
    if (__builtin_expect(bytes <= 0, 0)) {
        on_nothing(c, direction, fd, bytes, offset, aligned);
        return;
    }
    struct open_file *open = fds_find(fd);
    struct posix_state *s = open ? posix_state_of(open, fd) : NULL;
    if (!s)
        return;
    /* The kernel is asked before the lock is taken, because the answer may take long. */
    if (__builtin_expect(open->asks, 0)) {
        if (open->asks & FDS_DOUBT && fds_recheck(fd, open) != open) {
            on_doubted_transfer(c, direction, fd, bytes, offset, aligned);
            return;
        }
        offset = asked_begin(open, fd, direction, offset, bytes);
    }
    spin_lock(&s->lock);
    int64_t begin = begin_of(open, offset, bytes);
    add_transfer(s, direction, c, begin, bytes, aligned);
    struct lustre_state *stripes = s->stripes;
    spin_unlock(&s->lock);
    io_watch_call(c, "POSIX", s->record.base.id, bytes);
    if (__builtin_expect(stripes != NULL, 0))
        lustre_on_transfer(stripes, fd, direction == POSIX_WRITING, begin, bytes);
}

void posix_on_read(const struct call *c, int fd, ssize_t bytes, int64_t offset, bool aligned)
{
    on_transfer(c, POSIX_READING, fd, bytes, offset, aligned);
}

void posix_on_write(const struct call *c, int fd, ssize_t bytes, int64_t offset, bool aligned)
{
    on_transfer(c, POSIX_WRITING, fd, bytes, offset, aligned);
}

void posix_on_append(const struct call *c, int fd, ssize_t bytes, int64_t offset, bool aligned)
{
    struct open_file *open = fds_sure(fd);
    if (open && offset == POSIX_AT_POSITION)
        open->asks |= FDS_ONCE;
    else if (bytes >= 0)
        offset = posix_begin_at_end(fd, bytes);
    on_transfer(c, POSIX_WRITING, fd, bytes, offset, aligned);
}

bool posix_all_aligned(const struct iovec *vector, int count)
{
    for (int i = 0; i < count; i++)
        if (!posix_aligned(vector[i].iov_base))
            return false;
    return true;
}

static void submit(double t0, enum posix_direction direction, const struct aiocb *control)
{
    struct open_file *open = fds_sure(control->aio_fildes);
    struct posix_state *s = open ? posix_state_of(open, control->aio_fildes) : NULL;
    bool appends = s && open->append && direction == POSIX_WRITING;
    if (s)
        aio_add((struct aio_request){.control = control,
                                     .state = s,
                                     .direction = direction,
                                     .fd = control->aio_fildes,
                                     .offset = appends ? POSIX_AT_POSITION : control->aio_offset,
                                     .aligned = posix_aligned(control->aio_buf),
                                     .submitted = t0});
}

void posix_on_aio_submit(const struct call *c, enum posix_direction direction, const struct aiocb *control)
{
    submit(c->t0, direction, control);
}

void posix_on_aio_list(const struct call *c, struct aiocb *const list[], int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] && list[i]->aio_lio_opcode != LIO_NOP)
            submit(c->t0, list[i]->aio_lio_opcode == LIO_READ ? POSIX_READING : POSIX_WRITING, list[i]);
}

void posix_on_complete(const struct aio_request *request, double t1, int64_t bytes)
{
    if (bytes < 0 || iolens_paused())
        return;
    struct posix_state *s = request->state;
    const struct call whole = {.t0 = request->submitted, .t1 = t1};
    int64_t begin = request->offset;
    if (begin == POSIX_AT_POSITION)
        begin = posix_begin_at_end(request->fd, bytes);
    spin_lock(&s->lock);
    if (bytes == 0)
        add_empty(s, request->direction, &whole, begin, request->aligned);
    else if (request->direction == POSIX_READING)
        add_transfer(s, POSIX_READING, &whole, begin, bytes, request->aligned);
    else
        add_transfer(s, POSIX_WRITING, &whole, begin, bytes, request->aligned);
    struct lustre_state *stripes = s->stripes;
    spin_unlock(&s->lock);
    if (stripes)
        lustre_on_transfer(stripes, request->fd, request->direction == POSIX_WRITING, begin, bytes);
}

void posix_on_aio_return(const struct call *c, const struct aiocb *control, ssize_t bytes)
{
    struct aio_request request;
    if (aio_take(control, &request))
        posix_on_complete(&request, c->t1, bytes);
}
