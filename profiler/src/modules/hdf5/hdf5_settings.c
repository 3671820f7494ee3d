#include <stdio.h>
#include <stdlib.h>

#include "../../files/filter.h"
#include "../../files/registry.h"
#include "../../tables/process_table.h"
#include "hdf5.h"

enum { KEY_BYTES = 16, VALUE_BYTES = 24, USUAL_THRESHOLD = 65536, MOST_SLOTS = 65537, NOT_KNOWN = -1 };

enum setting {
    ALIGNMENT,
    THRESHOLD,
    META_BLOCK,
    SMALL_DATA,
    SIEVE,
    CHUNK_CACHE,
    LIBVER,
    LOCKING,
    COLL_METADATA,
    SETTINGS
};

static const char *const NAMES[SETTINGS] = {
    [ALIGNMENT] = "alignment",   [THRESHOLD] = "threshold", [META_BLOCK] = "meta_block",
    [SMALL_DATA] = "small_data", [SIEVE] = "sieve",         [CHUNK_CACHE] = "chunk_cache",
    [LIBVER] = "libver",         [LOCKING] = "locking",     [COLL_METADATA] = "coll_metadata",
};

/* Names of the versions of HDF5's file format, in the order of the values of H5F_libver_t. */
static const char *const VERSIONS[] = {"earliest", "v18", "v110", "v112", "v114", "v200"};
enum { VERSION_COUNT = sizeof VERSIONS / sizeof *VERSIONS, V110 = 2, V112 = 3, V114 = 4, V200 = 5 };

/* Values of all settings of a file; NOT_KNOWN if the library has no such setting. */
struct values {
    int64_t of[SETTINGS];
};

/* The values of the settings of one file: as the program requested them, as the user gives them, and as they
 * are in effect. */
struct file_settings {
    struct values requested, given, effective;
};

const char *iolens_hdf5_given;
static bool ranks_agree; /* True if all ranks of the job use the same HDF5 settings. */

/* The list made for a call that failed. Closing it at once would remove the error from the program's error
 * stack. */
static __thread struct {
    hid_t list;
    const struct hdf5_calls
        *owner; /* The HDF5 library that made the list; a list of another library may have the same number. */
} left_over;

static int64_t newest_version(const struct hdf5_calls *hdf5)
{
    unsigned major = 0, minor = 0, release = 0;
    hdf5->H5get_libversion(&major, &minor, &release);
    return major > 1 ? V200 : minor >= 14 ? V114 : minor >= 12 ? V112 : V110;
}

static struct values read_values(const struct hdf5_calls *hdf5, hid_t list)
{
    struct values found;
    hsize_t threshold = 0, size = 0;
    size_t bytes = 0, slots;
    int low = 0, high, elements;
    unsigned use = 0, ignore = 0, reads = 0, writes = 0;
    double preemption;
    for (int i = 0; i < SETTINGS; i++)
        found.of[i] = NOT_KNOWN;
    if (hdf5->H5Pget_alignment(list, &threshold, &size) >= 0)
        found.of[ALIGNMENT] = (int64_t)size, found.of[THRESHOLD] = (int64_t)threshold;
    if (hdf5->H5Pget_meta_block_size(list, &size) >= 0)
        found.of[META_BLOCK] = (int64_t)size;
    if (hdf5->H5Pget_small_data_block_size(list, &size) >= 0)
        found.of[SMALL_DATA] = (int64_t)size;
    if (hdf5->H5Pget_sieve_buf_size(list, &bytes) >= 0)
        found.of[SIEVE] = (int64_t)bytes;
    if (hdf5->H5Pget_cache(list, &elements, &slots, &bytes, &preemption) >= 0)
        found.of[CHUNK_CACHE] = (int64_t)bytes;
    if (hdf5->H5Pget_libver_bounds(list, &low, &high) >= 0)
        found.of[LIBVER] = low;
    if (hdf5->H5Pget_file_locking && hdf5->H5Pget_file_locking(list, &use, &ignore) >= 0)
        found.of[LOCKING] = use;
    if (hdf5->H5Pget_all_coll_metadata_ops && hdf5_through_mpi(list) &&
        hdf5->H5Pget_all_coll_metadata_ops(list, &reads) >= 0 &&
        hdf5->H5Pget_coll_metadata_write(list, &writes) >= 0)
        found.of[COLL_METADATA] = reads && writes;
    return found;
}

static void set_cache(const struct hdf5_calls *hdf5, hid_t list, int64_t wanted)
{
    int elements;
    size_t slots, bytes;
    double preemption;
    if (hdf5->H5Pget_cache(list, &elements, &slots, &bytes, &preemption) < 0)
        return;
    /* A chunk's slot in the cache is the chunk's number modulo the number of slots. So the number of slots
     * grows with the cache, and is made odd. */
    double scaled = (double)slots * ((double)wanted / (double)(bytes ? bytes : 1));
    if (scaled > (double)slots)
        slots = scaled < MOST_SLOTS ? (size_t)scaled | 1 : slots > MOST_SLOTS ? slots : MOST_SLOTS;
    hdf5->H5Pset_cache(list, elements, slots, (size_t)wanted, preemption);
}

/* Applies the given settings to a list of access properties. Their values are in range, so that no call fails
 * and makes HDF5 print errors. */
static void write_values(const struct hdf5_calls *hdf5, hid_t list, const struct values *given,
                         const struct values *before)
{
    const int64_t *value = given->of;
    int low, high;
    if (value[THRESHOLD] >= 0)
        hdf5->H5Pset_alignment(list, (hsize_t)value[THRESHOLD],
                               (hsize_t)(value[ALIGNMENT] > 0 ? value[ALIGNMENT] : before->of[ALIGNMENT]));
    if (value[META_BLOCK] >= 0)
        hdf5->H5Pset_meta_block_size(list, (hsize_t)value[META_BLOCK]);
    if (value[SMALL_DATA] >= 0)
        hdf5->H5Pset_small_data_block_size(list, (hsize_t)value[SMALL_DATA]);
    if (value[SIEVE] >= 0)
        hdf5->H5Pset_sieve_buf_size(list, (size_t)value[SIEVE]);
    if (value[CHUNK_CACHE] >= 0)
        set_cache(hdf5, list, value[CHUNK_CACHE]);
    if (value[LIBVER] >= 0 && hdf5->H5Pget_libver_bounds(list, &low, &high) >= 0)
        hdf5->H5Pset_libver_bounds(list, (int)value[LIBVER],
                                   high > value[LIBVER] ? high : (int)value[LIBVER]);
    if (value[LOCKING] >= 0 && hdf5->H5Pset_file_locking)
        hdf5->H5Pset_file_locking(list, (unsigned)value[LOCKING], 1);
    if (value[COLL_METADATA] >= 0 && hdf5->H5Pset_coll_metadata_write && hdf5_through_mpi(list)) {
        hdf5->H5Pset_all_coll_metadata_ops(list, (unsigned)value[COLL_METADATA]);
        hdf5->H5Pset_coll_metadata_write(list, (unsigned)value[COLL_METADATA]);
    }
}

/* Returns a value as a number; NOT_KNOWN if this library does not accept it. */
static int64_t number_of(enum setting setting, const char *text)
{
    char *end;
    if (setting == LIBVER) {
        int64_t newest = newest_version(hdf5_calls());
        for (int i = 0; i < VERSION_COUNT && i <= newest; i++)
            if (strcmp(text, VERSIONS[i]) == 0)
                return i;
        return strcmp(text, "latest") == 0 ? newest : NOT_KNOWN;
    }
    int64_t value = strtoll(text, &end, 10);
    int64_t least = setting == ALIGNMENT, most = setting >= LOCKING ? 1 : INT64_MAX;
    return *text && !*end && value >= least && value <= most ? value : NOT_KNOWN;
}

static void take(void *context, const char *key, const char *value)
{
    static atomic_bool said;
    struct values *given = context;
    int setting = 0;
    while (setting < SETTINGS && strcmp(key, NAMES[setting]) != 0)
        setting++;
    int64_t number = setting < SETTINGS ? number_of((enum setting)setting, value) : NOT_KNOWN;
    if (number != NOT_KNOWN)
        given->of[setting] = number;
    else if (!atomic_exchange(&said, true))
        iolens_say(
            "IOLENS_HDF5: %s=%s is no setting of this HDF5 library, and is left out; `iolens run --help` "
            "lists them",
            key, value);
}

/* Returns the settings for a path. If the user gives an alignment but no threshold, HDF5 would align even
 * objects of a few bytes. So the program's own threshold is kept; if it has none, the usual one is added. */
static struct values given_values(const char *path, const struct values *requested)
{
    struct values given;
    for (int i = 0; i < SETTINGS; i++)
        given.of[i] = NOT_KNOWN;
    iolens_given_each(iolens_hdf5_given, path, take, &given);
    if (given.of[ALIGNMENT] != NOT_KNOWN && given.of[THRESHOLD] == NOT_KNOWN)
        given.of[THRESHOLD] = requested->of[THRESHOLD] > 1 ? requested->of[THRESHOLD] : USUAL_THRESHOLD;
    return given;
}

static bool any(const struct values *values)
{
    for (int i = 0; i < SETTINGS; i++)
        if (values->of[i] != NOT_KNOWN)
            return true;
    return false;
}

static void close_left_over(void)
{
    if (left_over.list && left_over.owner->H5Iis_valid(left_over.list) > 0)
        left_over.owner->H5Pclose(left_over.list);
    left_over.list = 0;
}

hid_t hdf5_given_access(struct call *c, const char *path, hid_t access)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    if (!hdf5 || !path || !hdf5->H5P_LST_FILE_ACCESS_ID_g || hdf5->H5open() < 0)
        return access;
    close_left_over();
    hid_t list = access == HDF5_DEFAULT ? *hdf5->H5P_LST_FILE_ACCESS_ID_g : access, copy;
    struct values requested = read_values(hdf5, list), given = given_values(path, &requested);
    /* With different settings, ranks would wait for each other for ever in HDF5's collective calls. */
    if (!any(&given) || (!ranks_agree && hdf5_through_mpi(access)) || (copy = hdf5->H5Pcopy(list)) < 0)
        return access;
    write_values(hdf5, copy, &given, &requested);
    c->mark = copy;
    c->target = list;
    return copy;
}

static void note(hid_t file, const struct file_settings *settings)
{
    char path[PATH_BYTES];
    struct file *record = hdf5_path(path, file) ? registry_file(path) : NULL;
    struct file_settings *kept = record ? table_file_state(TABLE_hdf5_settings, record) : NULL;
    if (kept)
        *kept = *settings;
}

void hdf5_after_open(const struct call *c, hid_t file)
{
    const struct hdf5_calls *hdf5 = hdf5_calls();
    char name[PATH_BYTES];
    if (file < 0) {
        left_over.list = c->mark;
        left_over.owner = hdf5;
        return;
    }
    hid_t list = hdf5->H5Fget_access_plist(file);
    ssize_t length = hdf5->H5Fget_name(file, name, sizeof name);
    if (list >= 0 && length > 0 && length < PATH_BYTES && !iolens_paused()) {
        struct values requested = read_values(hdf5, c->target);
        note(file,
             &(struct file_settings){requested, given_values(name, &requested), read_values(hdf5, list)});
    }
    if (list >= 0)
        hdf5->H5Pclose(list);
    hdf5->H5Pclose(c->mark);
}

static void start(void)
{
    iolens_hdf5_given = *iolens.settings.hdf5 ? iolens.settings.hdf5 : NULL;
    ranks_agree = false;
}

/* Collective. Gives all ranks the settings of rank 0. If some rank is not recorded, its calls cannot be
 * changed; then no rank uses the settings for files opened through MPI-IO. */
static void agree(void)
{
    const struct iolens_transport *transport = iolens.transport;
    struct {
        int64_t bytes, left_out;
    } all = {iolens_hdf5_given ? (int64_t)strlen(iolens_hdf5_given) + 1 : 0, !filter_rank(transport->rank)};
    if (transport->allreduce(&all, sizeof all / sizeof(int64_t), IOLENS_INT64, IOLENS_MAX) != 0 ||
        all.bytes == 0)
        return;
    if (all.left_out && transport->rank == 0)
        iolens_say(
            "IOLENS_HDF5 is left out for files that are opened through MPI-IO, because not all ranks are "
            "recorded");
    char *text = arena_alloc(&iolens.scratch, (size_t)all.bytes);
    int64_t ready = text != NULL;
    if (text && transport->rank == 0 && iolens_hdf5_given)
        strcpy(text, iolens_hdf5_given);
    if (transport->allreduce(&ready, 1, IOLENS_INT64, IOLENS_MIN) != 0 || !ready ||
        transport->bcast(text, (size_t)all.bytes, 0) != 0)
        return;
    iolens_hdf5_given = *text ? text : NULL;
    ranks_agree = !all.left_out;
}

struct row {
    uint64_t file;
    char key[KEY_BYTES], requested[VALUE_BYTES], given[VALUE_BYTES], effective[VALUE_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(file, "<u8", "record id", "the file, by its id in the name region"),
    TEXT(key, "S16", "name of the setting in IOLENS_HDF5; sizes are in bytes", TEXT_WORD),
    TEXT(requested, "S24", "value that the program set, or the default of HDF5", TEXT_WORD),
    TEXT(given, "S24", "value from IOLENS_HDF5 that replaced it when the file was opened", TEXT_WORD),
    TEXT(effective, "S24",
         "value that HDF5 reports of the open file; empty: this library has no such setting", TEXT_WORD),
};

static void print(char text[VALUE_BYTES], enum setting setting, int64_t value)
{
    if (setting == LIBVER && value >= 0 && value < VERSION_COUNT)
        snprintf(text, VALUE_BYTES, "%s", VERSIONS[value]);
    else if (value >= 0)
        snprintf(text, VALUE_BYTES, "%lld", (long long)value);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    (void)transport;
    for (struct file *file = iolens_registry.first; file; file = file->next) {
        const struct file_settings *settings = table_file_state_known(TABLE_hdf5_settings, file);
        for (int i = 0; settings && i < SETTINGS; i++) {
            if (settings->given.of[i] == NOT_KNOWN)
                continue;
            struct row row = {.file = file->id};
            snprintf(row.key, sizeof row.key, "%s", NAMES[i]);
            print(row.requested, (enum setting)i, settings->requested.of[i]);
            print(row.given, (enum setting)i, settings->given.of[i]);
            print(row.effective, (enum setting)i, settings->effective.of[i]);
            buffer_put(rows, &row, sizeof row);
        }
    }
}

const struct process_table table_hdf5_settings = {
    .name = "hdf5_settings",
    .meaning = "A setting that IOLENS_HDF5 gives to an HDF5 file; each process that opened the file adds "
               "rows",
    TABLE_ROWS(COLUMNS),
    .recording.file_bytes = sizeof(struct file_settings),
    .recording.start = start,
    .recording.begin = agree,
    .merging.collect = collect,
};
