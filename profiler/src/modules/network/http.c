#include <stdlib.h>

#include "../../runtime/context.h"
#include "../../system/hash.h"
#include "../../system/path.h"
#include "../../system/spin.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"
#include "connections.h"

/* The parts of an object that have been fetched so far. They tell whether a byte is fetched for the first
 * time or again. */

enum { MOST_EXTENTS = 256 };

/* Parts in the order of their offsets. They do not overlap or touch. */
struct extents {
    int64_t count;
    struct {
        int64_t begin, end;
    } of[MOST_EXTENTS];
};

/* Adds the bytes from `begin` up to `end`. Returns how many of these bytes were not in any part before. A
 * part for which there is no room is not kept: its bytes are new each time. */
static int64_t extents_add(struct extents *extents, int64_t begin, int64_t end)
{
    int64_t count = extents->count, first = 0, fresh = end - begin;
    if (begin < 0 || end <= begin || count < 0 || count > MOST_EXTENTS)
        return 0;
    while (first < count && extents->of[first].end < begin)
        first++;
    int64_t behind = first;
    for (; behind < count && extents->of[behind].begin <= end; behind++) {
        int64_t from = extents->of[behind].begin, to = extents->of[behind].end;
        fresh -= (to < end ? to : end) - (from > begin ? from : begin);
    }
    int64_t merged = behind - first;
    if (merged == 0 && count == MOST_EXTENTS)
        return fresh;
    /* The new bytes are counted now, before the part is enlarged by older parts that it touches. */
    if (merged > 0) {
        int64_t last = extents->of[behind - 1].end;
        begin = extents->of[first].begin < begin ? extents->of[first].begin : begin;
        end = last > end ? last : end;
    }
    memmove(&extents->of[first + 1], &extents->of[behind], (size_t)(count - behind) * sizeof *extents->of);
    extents->of[first].begin = begin;
    extents->of[first].end = end;
    extents->count = count - merged + 1;
    return fresh;
}

enum { URLS = 1000, URL_BYTES = 256 };

/* Numbers of CURLINFO in curl.h, which never change. */
enum {
    EFFECTIVE_URL = 0x100001,
    RESPONSE_CODE = 0x200002,
    SIZE_UPLOAD = 0x600007,
    SIZE_DOWNLOAD = 0x600008,
    TOTAL_TIME = 0x600032,
    STARTTRANSFER_TIME = 0x600036,
};

enum { WHOLE_CONTENT = 200, PARTIAL_CONTENT = 206, FIRST_ERROR = 400 };

/* The structure curl_header of header.h, and the origin CURLH_HEADER. */
struct header {
    char *name, *value;
    size_t amount, index;
    unsigned origin;
    void *anchor;
};
enum { RESPONSE_HEADER = 1, LAST_REQUEST = -1 };

struct url {
    char text[URL_BYTES];
};

struct requests {
    _Atomic int64_t requests, partial, failed, received, sent, microseconds, first_byte_microseconds;
    _Atomic int64_t object, distinct, unplaced;
    uint64_t version; /* Hash that distinguishes the present object at this address from earlier ones. */
    struct spin lock;
    struct extents fetched;
};

static const struct url OTHERS = {"other"};
static const struct keyed_shape shape = {
    .key_bytes = sizeof(struct url), .value_bytes = sizeof(struct requests), .most = URLS, .other = &OTHERS};

static int64_t number(const struct http_transfer *transfer, int which)
{
    int64_t value = 0; /* curl_off_t, which is a long on all supported systems. */
    return transfer->getinfo(transfer->easy, which, &value) == 0 ? value : 0;
}

/* Returns the value of a header that the answer has exactly once; else NULL. */
static const char *single_header(const struct http_transfer *transfer, const char *name)
{
    struct header *found = NULL;
    bool known = transfer->header && transfer->header(transfer->easy, name, 0, RESPONSE_HEADER, LAST_REQUEST,
                                                      (void *)&found) == 0;
    return known && found && found->amount == 1 ? found->value : NULL;
}

/* Reads a number without a sign, which must fit into `number` and be followed by the character `behind`.
 * Returns false for any other text. */
static bool take_number(const char **at, char behind, int64_t *number)
{
    enum { MOST_DIGITS = 18 };
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS || (*at)[digits] != behind)
        return false;
    *number = strtoll(*at, NULL, 10);
    *at += digits + 1;
    return true;
}

/* Returns the offset in the object at which the bytes of an answer begin, and sets the object's size if the
 * server tells it. Returns -1 if the offset is unknown, as for a header that contradicts itself or the number
 * of bytes that came. */
static int64_t place_in_object(const struct http_transfer *transfer, int64_t code, int64_t received,
                               int64_t *object)
{
    const char *range = code == PARTIAL_CONTENT ? single_header(transfer, "Content-Range") : NULL;
    int64_t first, last, bytes;
    if (code == WHOLE_CONTENT) {
        *object = transfer->result == 0 ? received : 0;
        return 0;
    }
    if (!range || strncmp(range, "bytes ", 6) != 0)
        return -1;
    const char *at = range + 6;
    if (!take_number(&at, '-', &first) || !take_number(&at, '/', &last) || last < first ||
        received > last - first + 1)
        return -1;
    bool is_told = strcmp(at, "*") != 0;
    if (is_told && (!take_number(&at, '\0', &bytes) || last >= bytes))
        return -1;
    *object = is_told ? bytes : 0;
    return first;
}

/* Returns a number for the object that an answer is about: the hash of the server's ETag or, without one, of
 * the whole address, including the parts that are not recorded. */
static uint64_t version_of(const struct http_transfer *transfer, const char *address)
{
    const char *tag = single_header(transfer, "ETag");
    const char *text = tag ? tag : address;
    return record_id(text, strlen(text));
}

/* Counts the bytes of an answer as new, as fetched again, or as bytes whose place is unknown. If the address
 * now belongs to another object than at the last answer, all bytes are new. */
static void place(struct keyed_row *row, const struct http_transfer *transfer, const char *address,
                  int64_t code, int64_t received)
{
    struct requests *requests = keyed_value(row, &shape);
    int64_t object = 0;
    int64_t first = number(transfer, SIZE_UPLOAD) > 0 || memcmp(keyed_key(row), &OTHERS, sizeof OTHERS) == 0
                        ? -1
                        : place_in_object(transfer, code, received, &object);
    if (first < 0) {
        requests->unplaced += received;
        return;
    }
    uint64_t version = version_of(transfer, address);
    spin_lock(&requests->lock);
    if (requests->version != version || (object > 0 && requests->object > 0 && requests->object != object))
        requests->fetched.count = 0;
    requests->version = version;
    requests->object = object > 0 ? object : requests->object;
    requests->distinct += extents_add(&requests->fetched, first, first + received);
    spin_unlock(&requests->lock);
}

void http_on_done(const struct http_transfer *transfer)
{
    struct keyed *rows = iolens_paused() ? NULL : table_state(TABLE_http_requests);
    const char *address = NULL;
    struct url url;
    if (!rows || transfer->getinfo(transfer->easy, EFFECTIVE_URL, &address) != 0 || !address)
        return;
    web_address_without_secrets(url.text, sizeof url.text, address);
    struct keyed_row *row = keyed_find(rows, &shape, &url);
    if (!row)
        return;
    struct requests *requests = keyed_value(row, &shape);
    int64_t code = number(transfer, RESPONSE_CODE), received = number(transfer, SIZE_DOWNLOAD);
    requests->requests++;
    requests->partial += code == PARTIAL_CONTENT;
    requests->failed += transfer->result != 0 || code >= FIRST_ERROR;
    requests->received += received;
    requests->sent += number(transfer, SIZE_UPLOAD);
    requests->microseconds += number(transfer, TOTAL_TIME);
    requests->first_byte_microseconds += number(transfer, STARTTRANSFER_TIME);
    place(row, transfer, address, code, received);
}

struct row {
    char url[URL_BYTES];
    int64_t rank, requests, partial, failed, received, sent, object, distinct, unplaced;
    double seconds, first_byte_seconds;
};

static const struct column COLUMNS[] = {
    TEXT(url, "S256",
         "address without user and query; a long address is cut, and ends in `~` and a hash of all of it; "
         "`other`: all addresses without a row of their own",
         TEXT_NAME),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(requests, "<i8", "requests", "requests that ended"),
    COLUMN(partial, "<i8", "requests", "requests that were answered with a part of the object (status 206)"),
    COLUMN(failed, "<i8", "requests",
           "requests that failed, or were answered with an error (status 400 or above)"),
    COLUMN(received, "<i8", "B", "bytes of the answers, without headers"),
    COLUMN(sent, "<i8", "B", "bytes of the requests, without headers"),
    COLUMN(object, "<i8", "B", "size of the object that the server last reported; 0: not reported"),
    COLUMN(
        distinct, "<i8", "B",
        "the part of `received` that the rank had not fetched before; exact for up to 256 separate parts of "
        "one object, an upper bound beyond, and where several objects take turns at the address"),
    COLUMN(unplaced, "<i8", "B",
           "the part of `received` whose place in the object is not known: errors, answers to uploads, "
           "contradictory ranges, partial answers (206) with a libcurl before 7.83, and all of "
           "`other`"),
    COLUMN(seconds, "<f8", "s", "time of the requests, each from its start to its end"),
    COLUMN(first_byte_seconds, "<f8", "s", "the part of `seconds` until the first byte of the answer"),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct keyed *state = table_state_known(TABLE_http_requests);
    for (struct keyed_row *from = state ? keyed_first(state) : NULL; from; from = keyed_next(from)) {
        const struct requests *requests = keyed_value(from, &shape);
        struct row row = {.rank = transport->rank,
                          .requests = requests->requests,
                          .partial = requests->partial,
                          .failed = requests->failed,
                          .received = requests->received,
                          .sent = requests->sent,
                          .object = requests->object,
                          .distinct = requests->distinct,
                          .unplaced = requests->unplaced,
                          .seconds = (double)requests->microseconds / 1e6,
                          .first_byte_seconds = (double)requests->first_byte_microseconds / 1e6};
        memcpy(row.url, keyed_key(from), sizeof row.url);
        row.url[sizeof row.url - 1] = 0;
        buffer_put(rows, &row, sizeof row);
    }
}

const struct process_table table_http_requests = {
    .name = "http_requests",
    .meaning =
        "Requests of a rank through libcurl, by address; bytes that arrived over a connection are also "
        "counted in `connections`",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &shape,
    .recording.matters_if_used = true,
    .merging.collect = collect,
};
