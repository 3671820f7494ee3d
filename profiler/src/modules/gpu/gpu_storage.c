#include "gpu_storage.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../runtime/context.h"
#include "../../system/library.h"
#include "../../system/signals.h"
#include "../../system/system_call.h"
#include "../../tables/process_table.h"

/* Calls code of other libraries that might crash, loop for ever or print something: it runs in a copy of the
 * process, where this does no harm. */

enum isolated_end { ISOLATED_ANSWERED, ISOLATED_CRASHED, ISOLATED_SILENT, ISOLATED_REFUSED };

enum { MOST_LOOKS = 2000, LOOK_NS = 1000000 };

/* Memory that the process shares with its copy. */
struct room {
    atomic_bool is_answered;
    _Alignas(max_align_t) char answer[];
};

/* Does the work in the copy of the process. The copy dies with its parent, leaves no core file, and its
 * output goes nowhere. */
static _Noreturn void work_in_copy(void (*work)(void *, void *), void *context, struct room *room)
{
    system_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0L, 0L, 0L);
    system_call(SYS_prctl, PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
    long nowhere = system_call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0L);
    for (long fd = 0; fd <= 2; fd++)
        if (nowhere < 0 || (nowhere != fd && system_call(SYS_dup3, nowhere, fd, 0L) < 0))
            system_call(SYS_close, fd);
    work(context, room->answer);
    atomic_store(&room->is_answered, true);
    for (;;)
        system_call(SYS_exit_group, 0L);
}

/* Returns true if the copy has ended, even if `wait` in another thread of the program has already taken its
 * exit status. */
static bool has_ended(long copy)
{
    long found = system_call(SYS_wait4, copy, NULL, WNOHANG | __WALL, NULL);
    return found == copy || (found < 0 && errno != EINTR);
}

static enum isolated_end wait_for(long copy, const struct room *room)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    for (int i = 0; i < MOST_LOOKS; i++) {
        if (has_ended(copy))
            return atomic_load(&room->is_answered) ? ISOLATED_ANSWERED : ISOLATED_CRASHED;
        system_call(SYS_nanosleep, &pause, NULL);
    }
    system_call(SYS_kill, copy, SIGKILL);
    while (!has_ended(copy))
        system_call(SYS_nanosleep, &pause, NULL);
    return ISOLATED_SILENT;
}

/* Calls `work` in a copy of the process with zeroed room for an answer of `bytes`, waits for at most two
 * seconds, and copies the answer. Returns ISOLATED_CRASHED if the copy ended before `work` returned,
 * ISOLATED_SILENT if it did not end in time, and ISOLATED_REFUSED if the kernel made no copy; then `answer`
 * is unchanged. The copy sends no signal when it ends, so the program's `wait` and its handler of SIGCHLD do
 * not see it. All signals are blocked in the copy, so that at a fault no handler of the program runs there:
 * the kernel ends the copy. */
static enum isolated_end isolated_call(void (*work)(void *context, void *answer), void *context, void *answer,
                                       size_t bytes)
{
    int saved_errno = errno;
    size_t room_bytes = sizeof(struct room) + bytes;
    long place =
        system_call(SYS_mmap, NULL, room_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0L);
    if (place == -1)
        return ISOLATED_REFUSED;
    struct room *room = (struct room *)place;
    sigset_t all, before;
    sigfillset(&all);
    signals_set_mask(SIG_BLOCK, &all, &before);
    long copy = system_call(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (copy == 0)
        work_in_copy(work, context, room);
    signals_set_mask(SIG_SETMASK, &before, NULL);
    enum isolated_end end = copy < 0 ? ISOLATED_REFUSED : wait_for(copy, room);
    if (end == ISOLATED_ANSWERED)
        memcpy(answer, room->answer, bytes);
    system_call(SYS_munmap, place, room_bytes);
    errno = saved_errno;
    return end;
}

enum {
    MOST_GPUS = 16,
    LEVEL_2_BYTES = 1024, /* Bytes of the first two levels of statistics, which have sums over the GPUs of the
                             third level. */
    VECTOR_BYTES = 112,   /* Bytes of the counts of cuFileReadv and cuFileWritev, which the first level has
                             since cuFile 1.19. */
    /* Bytes reserved behind the answer; a library that writes to them has another layout. */
    BYTES_BEHIND = 4096,
    UUID_BYTES = 16,
    UUID_DIGITS = 2 * UUID_BYTES,
    NAME_BYTES = 8
};
enum library_index { CUFILE, HIPFILE, LIBRARIES };

/* CUfileError_t of cufile.h and hipFileError_t of hipfile.h. */
struct gpu_error {
    int library, driver;
};

/* CUfilePerGpuStats_t of cufile.h, and hipFilePerGpuStats_t of hipfile.h. */
struct direction {
    uint64_t bytes, bandwidth, utilization, microseconds, calls, peer, driver, posix, unaligned, routed;
};
struct gpu_counts {
    uint8_t uuid[UUID_BYTES];
    struct direction read;
    uint64_t sparse_regions, inline_regions, read_errors;
    struct direction write;
    uint64_t write_errors, maps, maps_ok, maps_failed, maps_freed, registered;
};
_Static_assert(sizeof(struct gpu_counts) == 248, "struct gpu_counts must have 248 bytes, as in cufile.h");

/* The end of CUfileStatsLevel3_t of cufile.h, behind the first two levels. */
struct gpu_answer {
    uint32_t gpus;
    struct gpu_counts gpu[MOST_GPUS];
};
_Static_assert(sizeof(struct gpu_answer) == 3976, "struct gpu_answer must have 3976 bytes, as in cufile.h");

typedef struct gpu_error stats_function(void *answer);

static const struct {
    const char *name, *file, *function;
    const char *vectors; /* Name of a function that a library has only if its first level of statistics also
                          * counts vectored calls. */
} LIBRARY[LIBRARIES] = {
    [CUFILE] = {"cuFile", "libcufile.so", "cuFileGetStatsL3", "cuFileReadv"},
    [HIPFILE] = {"hipFile", "libhipfile.so", "hipFileGetStatsL3", "hipFileReadv"},
};

/* Reasons for having no answer; errors of the libraries themselves are positive. */
enum { ENDED_BEFORE = -1, CRASHED = -2, SILENT = -3, NO_COPY = -4, NO_STATISTICS = -5, OTHER_LAYOUT = -6 };

struct gpu_library {
    int32_t is_known, error;
    struct gpu_answer answer;
};
struct gpu_libraries {
    struct gpu_library of[LIBRARIES];
};

static struct {
    /* True if the program is linked with a library, which is then finalised after this one. */
    bool is_linked;
    pid_t arranged; /* Number of the process that registered the exit handler: a child of fork inherits the
                       handler, but must not run it. */
    pid_t asked;
    unsigned long long changes; /* Number of changes to the list of loaded libraries, as of the last check. */
    /* Bits, one for each library: those loaded at the last check, and those loaded at any check. */
    unsigned loaded, ever;
} gpu_storage;

/* Keeps the result of the last check if no library was loaded or unloaded since. */
static int look_at(struct dl_phdr_info *info, size_t size, void *is_first)
{
    (void)size;
    unsigned long long changes = info->dlpi_adds + info->dlpi_subs;
    if (*(bool *)is_first && changes == gpu_storage.changes)
        return 1;
    if (*(bool *)is_first)
        gpu_storage.loaded = 0;
    *(bool *)is_first = false;
    gpu_storage.changes = changes;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *base = slash ? slash + 1 : info->dlpi_name;
    for (enum library_index which = 0; which < LIBRARIES; which++)
        if (strncmp(base, LIBRARY[which].file, strlen(LIBRARY[which].file)) == 0)
            gpu_storage.loaded |= 1U << which;
    return 0;
}

static bool any_is_loaded(void)
{
    bool is_first = true;
    dl_iterate_phdr(look_at, &is_first);
    gpu_storage.ever |= gpu_storage.loaded;
    return gpu_storage.loaded != 0;
}

struct reply {
    int32_t error;
    _Alignas(8) char answer[LEVEL_2_BYTES + VECTOR_BYTES + sizeof(struct gpu_answer) + BYTES_BEHIND];
};

static void ask_in_copy(void *function, void *place)
{
    struct reply *reply = place;
    reply->error = (*(stats_function **)function)(reply->answer).library;
}

/* Largest plausible number of bytes, calls or microseconds of one process; sums over many ranks still fit
 * into 64 bits. */
#define LARGEST_COUNT (UINT64_C(1) << 56)

static bool is_sound_direction(const struct direction *moved, uint64_t errors)
{
    bool is_small = moved->bytes < LARGEST_COUNT && moved->calls < LARGEST_COUNT &&
                    moved->microseconds < LARGEST_COUNT && errors < LARGEST_COUNT;
    return is_small && moved->posix <= moved->calls && moved->unaligned <= moved->calls;
}

/* Returns false if numbers contradict each other or the library wrote behind the answer. Both show another
 * version of the library, which may place its numbers elsewhere. */
static bool is_sound(const struct gpu_answer *answer, const char *behind)
{
    for (int i = 0; i < BYTES_BEHIND; i++)
        if (behind[i])
            return false;
    for (int i = 0; i < MOST_GPUS; i++)
        if (!is_sound_direction(&answer->gpu[i].read, answer->gpu[i].read_errors) ||
            !is_sound_direction(&answer->gpu[i].write, answer->gpu[i].write_errors))
            return false;
    return answer->gpus <= MOST_GPUS;
}

static void ask_library(enum library_index which, struct gpu_library *library)
{
    static const int32_t ERROR[] = {
        [ISOLATED_CRASHED] = CRASHED, [ISOLATED_SILENT] = SILENT, [ISOLATED_REFUSED] = NO_COPY};
    struct reply reply;
    stats_function *function;
    *(void **)&function = library_symbol(LIBRARY[which].file, LIBRARY[which].function);
    library->is_known = 1;
    library->error = NO_STATISTICS;
    if (!function)
        return;
    enum isolated_end end = isolated_call(ask_in_copy, &function, &reply, sizeof reply);
    bool has_vectors = library_symbol(LIBRARY[which].file, LIBRARY[which].vectors) != NULL;
    const char *found = reply.answer + LEVEL_2_BYTES + (has_vectors ? VECTOR_BYTES : 0);
    struct gpu_answer answer;
    memcpy(&answer, found, sizeof answer);
    bool is_sure = end == ISOLATED_ANSWERED && reply.error >= 0 && is_sound(&answer, found + sizeof answer);
    library->error = is_sure ? reply.error : end == ISOLATED_ANSWERED ? OTHER_LAYOUT : ERROR[end];
    if (library->error == 0)
        library->answer = answer;
}

/* If `in_time`, asks each loaded library for its counts. Marks all others that were ever loaded as ended
 * before they could be asked. */
static void settle(bool in_time)
{
    iolens_busy = true;
    any_is_loaded();
    struct gpu_libraries *state = gpu_storage.ever ? table_state(TABLE_gpu_storage) : NULL;
    gpu_storage.asked = iolens.pid;
    for (enum library_index which = 0; state && which < LIBRARIES; which++)
        if (in_time && gpu_storage.loaded >> which & 1)
            ask_library(which, &state->of[which]);
        else if (gpu_storage.ever >> which & 1)
            state->of[which] = (struct gpu_library){.is_known = 1, .error = ENDED_BEFORE};
    iolens_busy = false;
}

static void ask_before_exit(void)
{
    if (gpu_storage.arranged != iolens.pid || gpu_storage.asked == iolens.pid || !iolens_active())
        return;
    settle(true);
}

void gpu_storage_look(void)
{
    if (gpu_storage.arranged != iolens.pid && any_is_loaded() && atexit(ask_before_exit) == 0)
        gpu_storage.arranged = iolens.pid;
}

static void start(void) { gpu_storage.is_linked = any_is_loaded(); }

/* Asks the libraries for their statistics at the end of recording, unless this was done before. Libraries
 * that the program loaded late have by then already been finalised, except at the end of MPI or in _exit,
 * which runs no finalisers. */
static void end(void)
{
    if (gpu_storage.asked != iolens.pid)
        settle(iolens.transport || gpu_storage.is_linked || gpu_storage.arranged == iolens.pid);
}

struct row {
    int64_t rank;
    int32_t gpu, error;
    char library[NAME_BYTES], uuid[UUID_DIGITS];
    int64_t bytes_read, reads, posix_reads, unaligned_reads, failed_reads;
    int64_t bytes_written, writes, posix_writes, unaligned_writes, failed_writes;
    double read_seconds, write_seconds;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    TEXT(library, "S8", "cuFile or hipFile", TEXT_WORD),
    COLUMN(gpu, "<i4", "GPU", "number of the GPU in the library; -1: the library returned no statistics"),
    TEXT(uuid, "S32", "identity of the GPU, in hexadecimal digits; zeros: not known", TEXT_NAME),
    COLUMN(error, "<i4", "code",
           "0: no error; above 0: error of the library, for example if statistics of level 3 are off; -1: "
           "the library was unloaded or had ended before the profiler asked it; -2: it crashed; -3: it did "
           "not answer within 2 s; -4: no process could be made to ask it in; -5: it keeps no statistics; "
           "-6: its numbers contradict each other, perhaps because the profiler does not know its version"),
    COLUMN(bytes_read, "<i8", "B", "bytes from storage to the GPU"),
    COLUMN(reads, "<i8", "calls",
           "transfers from storage to the GPU, directly or through memory of the processor"),
    COLUMN(posix_reads, "<i8", "calls", "reads that went through memory of the processor and POSIX calls"),
    COLUMN(unaligned_reads, "<i8", "calls", "reads that were not aligned"),
    COLUMN(failed_reads, "<i8", "calls", "reads that failed"),
    COLUMN(bytes_written, "<i8", "B", "bytes from the GPU to storage"),
    COLUMN(writes, "<i8", "calls", "transfers from the GPU to storage"),
    COLUMN(posix_writes, "<i8", "calls", "writes that went through memory of the processor and POSIX calls"),
    COLUMN(unaligned_writes, "<i8", "calls", "writes that were not aligned"),
    COLUMN(failed_writes, "<i8", "calls", "writes that failed"),
    COLUMN(read_seconds, "<f8", "s", "time of the reads, as the library adds it up"),
    COLUMN(write_seconds, "<f8", "s", "time of the writes, as the library adds it up"),
};

static struct row row_of(const struct gpu_counts *gpu)
{
    struct row row = {.bytes_read = (int64_t)gpu->read.bytes,
                      .reads = (int64_t)gpu->read.calls,
                      .posix_reads = (int64_t)gpu->read.posix,
                      .unaligned_reads = (int64_t)gpu->read.unaligned,
                      .failed_reads = (int64_t)gpu->read_errors,
                      .bytes_written = (int64_t)gpu->write.bytes,
                      .writes = (int64_t)gpu->write.calls,
                      .posix_writes = (int64_t)gpu->write.posix,
                      .unaligned_writes = (int64_t)gpu->write.unaligned,
                      .failed_writes = (int64_t)gpu->write_errors,
                      .read_seconds = (double)gpu->read.microseconds / 1e6,
                      .write_seconds = (double)gpu->write.microseconds / 1e6};
    for (int i = 0; i < UUID_BYTES; i++) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", gpu->uuid[i]);
        memcpy(row.uuid + (size_t)2 * i, digits, 2);
    }
    return row;
}

/* Appends a row for each GPU that has transfers or, if there is none, one row without a GPU. */
static void put_library(struct buffer *rows, const struct gpu_library *library, const char *name, int rank)
{
    size_t before = rows->used;
    for (int i = 0; i <= MOST_GPUS; i++) {
        const struct gpu_counts *gpu = i < MOST_GPUS ? &library->answer.gpu[i] : NULL;
        if (gpu ? gpu->read.calls + gpu->write.calls == 0 : rows->used > before)
            continue;
        struct row row = gpu ? row_of(gpu) : (struct row){.error = library->error};
        row.rank = rank;
        row.gpu = gpu ? i : -1;
        snprintf(row.library, sizeof row.library, "%s", name);
        buffer_put(rows, &row, sizeof row);
    }
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct gpu_libraries *state = table_state_known(TABLE_gpu_storage);
    for (enum library_index which = 0; state && which < LIBRARIES; which++)
        if (state->of[which].is_known)
            put_library(rows, &state->of[which], LIBRARY[which].name, transport->rank);
}

const struct process_table table_gpu_storage = {
    .name = "gpu_storage",
    .meaning = "Transfers between storage and GPUs, as cuFile and hipFile counted them; one row with GPU -1 "
               "where the library was loaded and returned no statistics",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct gpu_libraries),
    .recording.start = start,
    .recording.end = end,
    .recording.matters_if_used = true,
    .merging.collect = collect,
};
