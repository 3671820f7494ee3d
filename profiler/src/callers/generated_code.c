/* Functions that the program generated at run time, as just-in-time compilers do. Their names are in no
 * object file. On request these compilers write the names to /tmp/perf-PID.map: one line "BEGIN SIZE NAME"
 * each, with both numbers in hex (Linux perf: tools/perf/Documentation/jit-interface.txt in the kernel's
 * source). */
#include <stdio.h>

#include "../runtime/context.h"
#include "../system/system_call.h"
#include "../tables/process_table.h"
#include "call_nodes.h"

enum { NAME_BYTES = 256, PATH_ROOM = 64, CHUNK = 65536, MOST_BYTES = 64 * 1024 * 1024, HEX_DIGITS = 16 };

struct row {
    int64_t rank;
    uint64_t begin, bytes;
    char name[NAME_BYTES];
};

static const struct column COLUMNS[] = {
    COLUMN(rank, "<i8", "rank", "the rank that generated the function"),
    COLUMN(begin, "<u8", "address", "address in memory where the function begins"),
    COLUMN(bytes, "<u8", "B", "size of the function"),
    TEXT(name, "S256",
         "name of the function, as its compiler wrote it; for Python `py::FUNCTION:FILE`; cut at 256 bytes",
         TEXT_NAME),
};

/* An address in the log, and the place in the file of its function's line; -1 if there is none. */
struct wanted {
    uint64_t address;
    int64_t line;
};

struct addresses {
    struct wanted *first;
    size_t count;
};

static void want(uint64_t address, bool leaf, void *context)
{
    const struct wanted wanted = {.address = address - !leaf, .line = -1};
    buffer_put(context, &wanted, sizeof wanted);
}

/* Sorts by Shell's method with Knuth's distances. Unlike qsort it allocates no memory, because malloc may not
 * be safe here. */
static void sort(struct addresses addresses)
{
    struct wanted *all = addresses.first;
    size_t gap = 1;
    while (gap < addresses.count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < addresses.count; i++) {
            struct wanted moved = all[i];
            size_t to = i;
            for (; to >= gap && all[to - gap].address > moved.address; to -= gap)
                all[to] = all[to - gap];
            all[to] = moved;
        }
}

static size_t first_from(struct addresses addresses, uint64_t address)
{
    size_t low = 0, high = addresses.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (addresses.first[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int digit_of(char text)
{
    if (text >= '0' && text <= '9')
        return text - '0';
    char small = (char)(text | ('a' ^ 'A'));
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

/* Parses a hexadecimal number, which may begin with "0x", and the blanks behind it; returns the end, or NULL
 * if there is no number. Java's agent (perf-map-agent) and `jcmd Compiler.perfmap` write the "0x". */
static const char *number_in(const char *text, const char *end, uint64_t *number)
{
    if (end - text > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
        text += 2;
    const char *at = text;
    *number = 0;
    for (; at < end && at - text < HEX_DIGITS && digit_of(*at) >= 0; at++)
        *number = *number << 4 | (uint64_t)digit_of(*at);
    if (at == text || at == end || (*at != ' ' && *at != '\t'))
        return NULL;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Parses a line of the map; returns false if it is not of the form "BEGIN SIZE NAME". */
static bool read_line(const char *text, const char *end, struct row *row)
{
    const char *name = number_in(text, end, &row->begin);
    name = name ? number_in(name, end, &row->bytes) : NULL;
    if (!name || name == end || row->bytes == 0)
        return false;
    size_t length = (size_t)(end - name);
    memset(row->name, 0, sizeof row->name);
    memcpy(row->name, name, length < sizeof row->name ? length : sizeof row->name);
    return true;
}

/* Notes the position of a line of the map for all addresses in its function. A later line for the same
 * address replaces an earlier one, since the code was generated again. */
static void note_line(struct addresses addresses, const char *text, const char *end, int64_t line)
{
    struct row row;
    if (!read_line(text, end, &row))
        return;
    for (size_t i = first_from(addresses, row.begin); i < addresses.count; i++) {
        if (addresses.first[i].address - row.begin >= row.bytes)
            break;
        addresses.first[i].line = line;
    }
}

static ssize_t read_at(int fd, char *text, size_t most, int64_t at)
{
    return (ssize_t)system_call(SYS_pread64, fd, text, most, at);
}

/* Finds for each address the line of the map that names its function. An incomplete last line is skipped,
 * because a process that was killed may have written only a part of it. */
static void note_lines(int fd, char *text, struct addresses addresses)
{
    int64_t at = 0, before = -1;
    while (addresses.count > 0 && at < MOST_BYTES && at > before) {
        ssize_t bytes = read_at(fd, text, CHUNK, at);
        const char *line = text, *end;
        before = at;
        while (bytes > 0 && (end = memchr(line, '\n', (size_t)(text + bytes - line)))) {
            note_line(addresses, line, end, before + (line - text));
            line = end + 1;
        }
        at += line - text;
    }
}

/* Writes each line that was found as one row. Several addresses may refer to one line; they are adjacent.
 * Addresses without a line are skipped. */
static void put_rows(int fd, char *text, struct addresses *addresses, int rank, struct buffer *rows)
{
    int64_t last = -1;
    size_t stay = 0;
    for (size_t i = 0; i < addresses->count; i++) {
        int64_t line = addresses->first[i].line;
        struct row row = {.rank = rank};
        if (line < 0)
            addresses->first[stay++] = addresses->first[i];
        if (line < 0 || line == last)
            continue;
        last = line;
        ssize_t bytes = read_at(fd, text, CHUNK, line);
        const char *end = bytes > 0 ? memchr(text, '\n', (size_t)bytes) : NULL;
        if (end && read_line(text, end, &row))
            buffer_put(rows, &row, sizeof row);
    }
    addresses->count = stay;
}

/* Opens a regular file of this user that was written since the process began; an older file may be that of an
 * earlier process with the same number. File times come from the kernel's last tick, which may lie in the
 * previous second. Returns -1 if there is none. */
static int open_map(int64_t pid, time_t since)
{
    char path[PATH_ROOM];
    struct stat info;
    snprintf(path, sizeof path, "/tmp/perf-%lld.map", (long long)pid);
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = (int)system_call(SYS_openat, AT_FDCWD, path, flags, 0);
    if (fd < 0)
        return -1;
    if (file_info_fd(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == file_owner_now() &&
        info.st_mtim.tv_sec + 1 >= since)
        return fd;
    system_call(SYS_close, fd);
    return -1;
}

struct maps {
    int own, parents;
};

/* Opens the maps of generated code: the map of this process and, in a child of fork, also the map of its
 * parent, whose code the child runs, too. */
static struct maps open_maps(void)
{
    return (struct maps){
        open_map(iolens.origin.pid, iolens.clock.realtime.tv_sec),
        iolens.fork_parent > 0 ? open_map(iolens.fork_parent, 0) : -1,
    };
}

static void name_by(int map, char *text, struct addresses *addresses, int rank, struct buffer *rows)
{
    if (map < 0)
        return;
    note_lines(map, text, *addresses);
    put_rows(map, text, addresses, rank, rows);
    system_call(SYS_close, map);
}

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    struct buffer wanted = {0}, text = {0};
    struct maps maps = table_state_known(TABLE_call_nodes) ? open_maps() : (struct maps){-1, -1};
    if (maps.own < 0 && maps.parents < 0)
        return;
    call_nodes_of_no_object(want, &wanted);
    struct addresses addresses = {(struct wanted *)wanted.data, wanted.used / sizeof(struct wanted)};
    char *room = buffer_add(&text, CHUNK);
    addresses.count = room ? addresses.count : 0;
    sort(addresses);
    name_by(maps.own, room, &addresses, transport->rank, rows);
    name_by(maps.parents, room, &addresses, transport->rank, rows);
    rows->failed = rows->failed || wanted.failed || text.failed;
    buffer_free(&wanted);
    buffer_free(&text);
}

const struct process_table table_generated_code = {
    .name = "generated_code",
    .meaning = "A function that the program generated while it ran, read from the file /tmp/perf-PID.map, "
               "which an interpreter or just-in-time compiler writes on request. Addresses in `call_nodes` "
               "without an object lie in such functions",
    TABLE_ROWS(COLUMNS),
    .merging.on_demand = true,
    .merging.state_of = TABLE_call_nodes,
    .merging.collect = collect,
};
