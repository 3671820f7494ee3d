#include "http.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../../runtime/context.h"
#include "../../system/spin.h"
#include "../../system/web_address.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"
#include "extents.h"

enum { URLS = 1000, URL_BYTES = 160 };

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

/* curl_header of header.h, and CURLH_HEADER. */
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

/* Returns where the bytes of an answer begin in the object, and sets its size if the server tells it. Returns
 * -1 if the place is not known. */
static int64_t place_in_object(const struct http_transfer *transfer, int64_t code, int64_t received,
                               int64_t *object)
{
    struct header *range = NULL;
    long long first, last, bytes = 0;
    if (code == WHOLE_CONTENT) {
        *object = transfer->result == 0 ? received : 0;
        return 0;
    }
    if (code != PARTIAL_CONTENT || !transfer->header ||
        transfer->header(transfer->easy, "Content-Range", 0, RESPONSE_HEADER, LAST_REQUEST, (void *)&range) ||
        !range || sscanf(range->value, "bytes %lld-%lld/%lld", &first, &last, &bytes) < 2 || first < 0 ||
        first > INT64_MAX - received)
        return -1;
    *object = bytes;
    return first;
}

/* Counts the bytes of an answer as new, as fetched again, or as of an unknown place. */
static void place(struct requests *requests, const struct http_transfer *transfer, int64_t code,
                  int64_t received, int64_t sent)
{
    int64_t object = 0;
    int64_t first = sent > 0 ? -1 : place_in_object(transfer, code, received, &object);
    if (first < 0) {
        requests->unplaced += received;
        return;
    }
    spin_lock(&requests->lock);
    requests->distinct += extents_add(&requests->fetched, first, first + received);
    requests->object = object > requests->object ? object : requests->object;
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
    int64_t code = number(transfer, RESPONSE_CODE), received = number(transfer, SIZE_DOWNLOAD),
            sent = number(transfer, SIZE_UPLOAD);
    requests->requests++;
    requests->partial += code == PARTIAL_CONTENT;
    requests->failed += transfer->result != 0 || code >= FIRST_ERROR;
    requests->received += received;
    requests->sent += sent;
    requests->microseconds += number(transfer, TOTAL_TIME);
    requests->first_byte_microseconds += number(transfer, STARTTRANSFER_TIME);
    place(requests, transfer, code, received, sent);
}

struct row {
    char url[URL_BYTES];
    int64_t rank, requests, partial, failed, received, sent, object, distinct, unplaced;
    double seconds, first_byte_seconds;
};

static const struct column COLUMNS[] = {
    TEXT(url, "S160", "address without user and query; `other`: further ones", TEXT_NAME),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(requests, "<i8", "requests", "requests that ended"),
    COLUMN(partial, "<i8", "requests", "those that were answered with a part of the object (206)"),
    COLUMN(failed, "<i8", "requests", "those that failed, or were answered with an error (from 400 on)"),
    COLUMN(received, "<i8", "B", "bytes of the answers, without headers"),
    COLUMN(sent, "<i8", "B", "bytes of the requests, without headers"),
    COLUMN(object, "<i8", "B", "size of the object, as the server told; 0: not told"),
    COLUMN(
        distinct, "<i8", "B",
        "the part of `received` that the rank had not fetched before; exact for up to 256 separate parts of "
        "an object, and an upper bound beyond"),
    COLUMN(unplaced, "<i8", "B",
           "the part of `received` whose place in the object is not known: errors, answers to what was sent, "
           "and parts with a libcurl before 7.83"),
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
        "Requests of a rank through libcurl, by address; bytes that arrived over a connection stand in "
        "`connections` too",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &shape,
    .recording.matters_if_used = true,
    .merging.collect = collect,
};
