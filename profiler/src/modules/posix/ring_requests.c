#include <limits.h>

#include "../../files/names.h"
#include "../../system/system_call.h"
#include "../../unwind/registers.h"
#include "../failed_calls.h"
#include "extra.h"
#include "posix.h"
#include "ring.h"

/* Number of later requests that are searched at most for another one with the same key but a different
 * file. */
enum { LOOKS_AHEAD = 64 };

static struct ring_bucket *bucket_of(struct ring *ring, uint64_t key)
{
    return &ring->pending[(key ^ key >> 6 ^ key >> 12) % RING_BUCKETS];
}

void ring_requests_add(struct ring *ring, struct ring_request *request)
{
    struct ring_bucket *bucket = bucket_of(ring, request->asked.key);
    request->next = NULL;
    *(bucket->first ? &bucket->last->next : &bucket->first) = request;
    bucket->last = request;
}

/* Returns true if the files of two requests are known and differ. */
static bool is_of_other_file(const struct ring_request *one, const struct ring_request *other)
{
    bool known = one->progress == REQUEST_PENDING && other->progress == REQUEST_PENDING;
    return known && one->file != other->file;
}

struct ring_request *ring_requests_take(struct ring *ring, uint64_t key, bool newest, bool *several)
{
    struct ring_bucket *bucket = bucket_of(ring, key);
    struct ring_request *before = NULL, *found = NULL, *last = NULL;
    int ahead = 0;
    for (struct ring_request *each = bucket->first; each && (newest || ahead < LOOKS_AHEAD);
         each = each->next) {
        ahead += found != NULL;
        if (each->asked.key == key) {
            *several |= found && is_of_other_file(found, each);
            if (!found || newest) {
                before = last;
                found = each;
            }
        }
        last = each;
    }
    if (!found)
        return NULL;
    *(before ? &before->next : &bucket->first) = found->next;
    if (bucket->last == found)
        bucket->last = before;
    return found;
}

static enum posix_direction direction_of(const struct ring_request *request)
{
    switch (request->asked.operation) {
    case RING_READ:
    case RING_READV:
    case RING_READ_FIXED:
    case RING_READV_FIXED:
    case RING_READ_MULTISHOT:
        return POSIX_READING;
    case RING_WRITE:
    case RING_WRITEV:
    case RING_WRITE_FIXED:
    case RING_WRITEV_FIXED:
        return POSIX_WRITING;
    default:
        return POSIX_NOTHING;
    }
}

static bool is_vector(uint8_t operation)
{
    return operation == RING_READV || operation == RING_WRITEV || operation == RING_READV_FIXED ||
           operation == RING_WRITEV_FIXED;
}

static bool is_fixed(const struct ring_request *request) { return request->asked.flags & RING_FIXED_FILE; }

/* Copies the lengths from the program's memory. The address may be invalid, in which case the kernel refuses
 * the request. */
static void read_vector(struct ring_request *request)
{
    struct iovec vector[8];
    if (request->asked.length > IOV_MAX)
        return;
    for (uint32_t i = 0; i < request->asked.length; i += 8) {
        uint32_t count = request->asked.length - i < 8 ? request->asked.length - i : 8;
        if (!memory_copied(request->asked.address + i * sizeof *vector, vector, count * sizeof *vector))
            return;
        request->aligned &= posix_all_aligned(vector, (int)count);
        for (uint32_t j = 0; j < count; j++)
            request->bytes += (int64_t)vector[j].iov_len;
    }
}

static void begin_transfer(struct ring_request *request)
{
    const struct ring_submission *asked = &request->asked;
    request->aligned = true;
    if (is_vector(asked->operation)) {
        read_vector(request);
        return;
    }
    request->bytes = asked->length;
    if (!(asked->flags & RING_CHOOSES_BUFFER))
        request->aligned = posix_aligned((const void *)(uintptr_t)asked->address);
}

/* Copies a path of the program, page by page because its end is unknown. Returns false without a readable
 * path. */
static bool copy_path(char room[PATH_BYTES], uint64_t address)
{
    enum { PAGE = 4096 };
    for (size_t used = 0; used < PATH_BYTES;) {
        size_t bytes = PAGE - (address + used) % PAGE;
        bytes = bytes < PATH_BYTES - used ? bytes : PATH_BYTES - used;
        if (!memory_copied(address + used, room + used, bytes))
            return false;
        if (memchr(room + used, '\0', bytes))
            return true;
        used += bytes;
    }
    return false;
}

static void read_path(struct ring_request *request, int which, int folder, uint64_t address, bool in_root)
{
    char *path = path_room_take(), *absolute = path_room_take();
    if (path && absolute && copy_path(path, address) &&
        path_absolute(absolute, folder, path + (in_root ? strspn(path, "/") : 0))) {
        request->paths[which] = absolute;
        absolute = NULL;
    }
    path_room_give(path);
    path_room_give(absolute);
}

static void begin_open(struct ring *ring, struct ring_request *request)
{
    enum { IN_ROOT = 0x10 }; /* RESOLVE_IN_ROOT: the folder acts as the root as well. */
    const struct ring_submission *asked = &request->asked;
    uint64_t how[3] = {asked->call_flags, asked->length};
    if (asked->operation == RING_OPENAT2 && !memory_copied(asked->offset, how, sizeof how))
        return;
    request->flags = (int)how[0];
    request->mode = (int)how[1];
    read_path(request, 0, asked->fd, asked->address, how[2] & IN_ROOT);
    bool known_slot = asked->other_file > 0 && asked->other_file != RING_ANY_SLOT;
    if (known_slot && asked->flags & RING_SKIPS_SUCCESS && request->paths[0]) {
        request->file = names_file(request->paths[0], NAMES_TARGET);
        ring_files_put(ring, asked->other_file - 1, (struct ring_file){.file = request->file});
    }
}

static void begin_close(struct ring_request *request)
{
    struct call c = {0};
    if (request->asked.other_file > 0)
        return;
    posix_before_close(&c, request->asked.fd);
    request->taken = c.taken;
}

static void begin_files_update(struct ring *ring, const struct ring_submission *asked)
{
    int fd;
    /* The kernel refuses a change of more files than the table holds. */
    if (asked->length > ring->files.count)
        return;
    for (uint32_t i = 0; (uint32_t)asked->offset != RING_ANY_SLOT && i < asked->length; i++)
        if (memory_copied(asked->address + i * sizeof fd, &fd, sizeof fd))
            ring_files_set(ring, (uint32_t)asked->offset + i, &fd, 1);
}

/* Finds the file of a descriptor or of a slot. */
static void find_file(struct ring *ring, struct ring_request *request)
{
    if (is_fixed(request)) {
        struct ring_file known = ring_files_find(ring, (uint32_t)request->asked.fd, 0);
        request->file = known.file;
        request->appends = known.appends;
        return;
    }
    struct open_file *open = fds_sure(request->asked.fd);
    request->file = open ? fds_file(open) : NULL;
    request->appends = open && open->append;
}

void ring_request_begin(struct ring *ring, struct ring_request *request)
{
    const struct ring_submission *asked = &request->asked;
    request->submitted = clock_now(&iolens.clock);
    switch (asked->operation) {
    case RING_OPENAT:
    case RING_OPENAT2:
        begin_open(ring, request);
        return;
    case RING_CLOSE:
        begin_close(request);
        return;
    case RING_FILES_UPDATE:
        begin_files_update(ring, asked);
        return;
    case RING_RENAMEAT:
    case RING_LINKAT:
        read_path(request, 1, (int)asked->length, asked->offset, false);
        /* fallthrough */
    case RING_STATX:
    case RING_UNLINKAT:
    case RING_MKDIRAT:
        read_path(request, 0, asked->fd, asked->address, false);
        return;
    case RING_FSYNC:
    case RING_FALLOCATE:
    case RING_FTRUNCATE:
        find_file(ring, request);
        return;
    default:
        if (direction_of(request) != POSIX_NOTHING) {
            find_file(ring, request);
            begin_transfer(request);
        }
    }
}

/* Returns true if the descriptor still belongs to the file of this path. The program may have seen the
 * completion earlier than the recorder, and may have closed the descriptor since. */
static bool still_open(int fd, char *path)
{
    char *now = path_room_take();
    bool same =
        now && names_of_fd(now, fd) && names_file(now, NAMES_TARGET) == names_file(path, NAMES_TARGET);
    path_room_give(now);
    return same;
}

static void end_open(struct ring *ring, const struct ring_request *request, const struct call *c)
{
    uint32_t slot = request->asked.other_file;
    char *path = request->paths[0];
    if (request->result < 0)
        failed_calls_add(c, FAILED_open, -request->result);
    else if (slot == 0 && path && still_open(request->result, path))
        posix_on_open(c, request->result, AT_FDCWD, path, request->flags, (mode_t)request->mode);
    if (request->result < 0 || slot == 0 || !path)
        return;
    struct ring_file file = {.file = names_file(path, NAMES_TARGET), .appends = request->flags & O_APPEND};
    struct stat info;
    if (file.appends && file_info(path, &info) == 0)
        file.offset = info.st_size;
    ring_files_put(ring, slot == RING_ANY_SLOT ? (uint32_t)request->result : slot - 1, file);
    posix_on_file_open(c, file.file, (mode_t)request->mode);
}

/* Records a transfer without an offset of its own on a descriptor that is still open, and moves the file
 * position. Returns false for any other request. */
static bool moved_position(const struct ring_request *request, enum posix_direction direction,
                           const struct call *c)
{
    struct open_file *open = is_fixed(request) ? NULL : fds_sure(request->asked.fd);
    if (request->asked.offset != UINT64_MAX || !open || open->file != request->file)
        return false;
    if (direction == POSIX_READING)
        posix_on_read(c, request->asked.fd, request->result, POSIX_AT_POSITION, request->aligned);
    else
        posix_on_write(c, request->asked.fd, request->result, POSIX_AT_POSITION, request->aligned);
    return true;
}

static void end_transfer(struct ring *ring, struct ring_request *request, const struct call *c)
{
    enum posix_direction direction = direction_of(request);
    int64_t bytes = request->result;
    bool at_end = request->appends && direction == POSIX_WRITING, fixed = is_fixed(request);
    if (!request->file)
        find_file(ring, request);
    struct posix_state *state = request->file ? registry_state(request->file, MODULE_POSIX, -1) : NULL;
    if (bytes < 0) {
        if (request->file)
            failed_calls_add(c, direction == POSIX_READING ? FAILED_read : FAILED_write, (int)-bytes);
        return;
    }
    ring_counts_add(state ? RING_COUNT_transfers : RING_COUNT_unnamed, 1);
    ring_counts_add(state ? RING_COUNT_bytes : RING_COUNT_unnamed_bytes, bytes);
    if (!state || moved_position(request, direction, c))
        return;
    struct aio_request done = {.state = state,
                               .direction = direction,
                               .fd = fixed ? -1 : request->asked.fd,
                               .offset = at_end ? POSIX_AT_POSITION : (int64_t)request->asked.offset,
                               .aligned = request->aligned,
                               .submitted = request->submitted};
    if (fixed && done.offset == POSIX_AT_POSITION)
        done.offset = ring_files_find(ring, (uint32_t)request->asked.fd, bytes).offset;
    posix_on_complete(&done, c->t1, bytes);
}

static void end_statx(const struct ring_request *request, const struct call *c)
{
    /* The bit STATX_TYPE of a mask, and the offset of stx_mode in struct statx. */
    enum { TYPE_BIT = 1, MODE_AT = 28 };
    unsigned char found[MODE_AT + 2];
    uint32_t mask;
    uint16_t mode;
    if (request->result < 0) {
        failed_calls_add(c, FAILED_stat, -request->result);
        return;
    }
    if (!memory_copied(request->asked.offset, found, sizeof found))
        return;
    memcpy(&mask, found, sizeof mask);
    memcpy(&mode, found + MODE_AT, sizeof mode);
    if (mask & TYPE_BIT && S_ISREG(mode)) {
        if (request->paths[0])
            posix_on_stat(c, AT_FDCWD, request->paths[0]);
        else
            posix_on_fstat(c, request->asked.fd);
    }
}

static void end_path(const struct ring_request *request, const struct call *c)
{
    const struct ring_submission *asked = &request->asked;
    if (request->result != 0 || !request->paths[0])
        return;
    if (asked->operation == RING_UNLINKAT)
        extra_on_path(c, AT_FDCWD, request->paths[0],
                      asked->call_flags & AT_REMOVEDIR ? EXTRA_rmdirs : EXTRA_unlinks);
    else if (asked->operation == RING_MKDIRAT)
        extra_on_path(c, AT_FDCWD, request->paths[0], EXTRA_mkdirs);
    else if (asked->operation == RING_LINKAT)
        extra_on_path(c, AT_FDCWD, request->paths[0], EXTRA_links);
    else if (request->paths[1] && !(asked->call_flags & RENAME_EXCHANGE))
        posix_on_rename(c, AT_FDCWD, request->paths[0], AT_FDCWD, request->paths[1]);
}

static void end_splice(const struct ring_request *request, const struct call *c)
{
    enum { SOURCE_IS_FIXED = 1u << 31 }; /* SPLICE_F_FD_IN_FIXED */
    const struct ring_submission *asked = &request->asked;
    if (request->result >= 0 && !is_fixed(request) && !(asked->call_flags & SOURCE_IS_FIXED))
        extra_on_move(c, (int)asked->other_file, (int64_t)asked->address, asked->fd, (int64_t)asked->offset,
                      request->result, EXTRA_splices);
}

static void end_on_file(const struct ring_request *request, const struct call *c)
{
    enum { DATA_ALONE = 1 }; /* IORING_FSYNC_DATASYNC */
    const struct ring_submission *asked = &request->asked;
    if (request->result != 0 || !request->file)
        return;
    if (asked->operation == RING_FSYNC)
        posix_on_file_sync(c, request->file, asked->call_flags & DATA_ALONE ? POSIX_FDSYNCS : POSIX_FSYNCS);
    else
        extra_on_file(c, request->file,
                      asked->operation == RING_FALLOCATE ? EXTRA_allocates : EXTRA_truncates);
}

static void give_paths(struct ring_request *request)
{
    for (int i = 0; i < 2 && !request->continues; i++)
        path_room_give(request->paths[i]);
}

void ring_request_end(struct ring *ring, struct ring_request *request, double now)
{
    struct call c = {.t0 = request->submitted, .t1 = now, .taken = request->taken};
    ring_counts_add(RING_COUNT_completions, 1);
    switch (request->asked.operation) {
    case RING_OPENAT:
    case RING_OPENAT2:
        end_open(ring, request, &c);
        break;
    case RING_CLOSE:
        posix_on_close(&c, request->result);
        if (request->asked.other_file > 0 && request->result == 0)
            ring_files_put(ring, request->asked.other_file - 1, (struct ring_file){0});
        break;
    case RING_STATX:
        end_statx(request, &c);
        break;
    case RING_SPLICE:
        end_splice(request, &c);
        break;
    case RING_FSYNC:
    case RING_FALLOCATE:
    case RING_FTRUNCATE:
        end_on_file(request, &c);
        break;
    case RING_RENAMEAT:
    case RING_LINKAT:
    case RING_UNLINKAT:
    case RING_MKDIRAT:
        end_path(request, &c);
        break;
    default:
        if (direction_of(request) != POSIX_NOTHING)
            end_transfer(ring, request, &c);
    }
    give_paths(request);
}

void ring_request_undo(struct ring_request *request)
{
    if (request->taken) {
        fds_duplicate(request->asked.fd, request->taken);
        fds_release(request->taken);
    }
    give_paths(request);
}

void ring_request_abandon(struct ring_request *request)
{
    bool silent = request->asked.flags & RING_SKIPS_SUCCESS;
    ring_counts_add(silent ? RING_COUNT_silent : RING_COUNT_open, 1);
    ring_counts_add(silent ? RING_COUNT_silent_bytes : RING_COUNT_open_bytes, request->bytes);
    if (request->taken)
        fds_release(request->taken);
    give_paths(request);
}
