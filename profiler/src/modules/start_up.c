/* The table `start_up`: how long a process took before it was recorded, and what its loader had to search. */
#include <link.h>
#include <stdlib.h>

#include "../files/filter.h"
#include "../runtime/context.h"
#include "../spool/spool.h"
#include "../system/system_call.h"
#include "../tables/process_table.h"

enum { NOT_ASKED = -1 };

struct row {
    int64_t rank, libraries, entries, missing;
    double seconds;
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(libraries, "<i8", "libraries", "libraries that the process had loaded when recording ended"),
    COLUMN(entries, "<i8", "folders", "entries of LD_LIBRARY_PATH when recording ended"),
    COLUMN(missing, "<i8", "folders",
           "entries that the loader searched although they are not folders, each counted once; -1: not "
           "known, because only rank 0 asks the file system"),
    COLUMN(seconds, "<f8", "s",
           "time from the start of the process until it was recorded, in steps of a tick (0.01 s): it "
           "loads its libraries, and may run another program before an exec; NaN: not known"),
};

struct loaded {
    int64_t libraries;
    const char *c_library; /* Path of the C library, for which every loader searches; NULL if unknown. */
};

static int count_object(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct loaded *loaded = argument;
    const char *name = strrchr(info->dlpi_name, '/');
    (void)bytes;
    loaded->libraries += info->dlpi_name[0] == '/';
    if (name && strcmp(name, "/libc.so.6") == 0)
        loaded->c_library = info->dlpi_name;
    return 0;
}

/* The loader separates the entries of a search path by colons or semicolons; an empty entry is the current
 * folder. */
static size_t entry_length(const char *entry) { return strcspn(entry, ":;"); }

/* Returns the length of an entry without slashes at its end, which the loader ignores. */
static size_t folder_length(const char *entry)
{
    size_t length = entry_length(entry);
    while (length > 1 && entry[length - 1] == '/')
        length--;
    return length;
}

/* Returns true if an entry equals an earlier one, which the loader then leaves out. */
static bool is_repeated(const char *first, const char *entry, size_t length)
{
    for (; first < entry; first += entry_length(first) + 1)
        if (folder_length(first) == length && memcmp(first, entry, length) == 0)
            return true;
    return false;
}

/* Counts the entries of the search path that the loader certainly searched in vain. Entries behind the folder
 * of the C library may not have been searched. An entry that is relative, or that has a token of the loader
 * such as $ORIGIN, names a folder that depends on the program. */
static void read_search_path(struct row *row, const char *c_library)
{
    const char *first = getenv("LD_LIBRARY_PATH"), *entry = first;
    char *folder = first && row->rank == 0 ? path_room_take() : NULL;
    bool searched = true;
    row->missing = folder || !first ? 0 : NOT_ASKED;
    for (; entry && *entry; entry += entry_length(entry), entry += *entry != '\0') {
        struct stat info;
        size_t length = folder_length(entry);
        row->entries++;
        if (!folder || !searched || *entry != '/' || length >= PATH_BYTES ||
            is_repeated(first, entry, length))
            continue;
        memcpy(folder, entry, length);
        folder[length] = '\0';
        searched = !c_library || strncmp(c_library, folder, length) != 0 ||
                   strcmp(c_library + length, "/libc.so.6") != 0;
        row->missing += !strchr(folder, '$') && (file_info(folder, &info) != 0 || !S_ISDIR(info.st_mode));
    }
    path_room_give(folder);
}

/* Returns the seconds from the start of the process to the start of recording; NaN without a spool, whose
 * header has the start of the process. The C library's clock_gettime would raise a signal in a program that
 * forbids itself to read the time stamp counter (PR_SET_TSC). */
static double before_recording(void)
{
    struct timespec now;
    const struct spool_header *header = iolens_spool.header;
    if (!header || system_call(SYS_clock_gettime, CLOCK_BOOTTIME, &now) != 0)
        return NAN;
    double since_boot = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - clock_now(&iolens.clock);
    double seconds = since_boot - (double)header->process.start_ticks / (double)sysconf(_SC_CLK_TCK);
    return seconds > 0 ? seconds : 0;
}

/* Collects this process's row of `start_up`. A child of fork and a rank after MPI_Finalize load
 * nothing, and the end of a killed process is not seen: none of them has a row. */
static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct row row = {.rank = transport->rank};
    struct loaded loaded = {0};
    bool continues = iolens.fork_parent != 0 || iolens.finalized.ranks > 0;
    if (iolens.lost || continues || !filter_rank(transport->rank))
        return;
    dl_iterate_phdr(count_object, &loaded);
    row.libraries = loaded.libraries;
    read_search_path(&row, loaded.c_library);
    row.seconds = before_recording();
    buffer_put(rows, &row, sizeof row);
}

const struct process_table table_start_up = {
    .name = "start_up",
    .meaning = "The start of a process: time before it was recorded, its libraries, and the folders that its "
               "loader searches. A child of fork and a killed process have no row",
    TABLE_ROWS(COLUMNS),
    .merging.collect = collect,
};
