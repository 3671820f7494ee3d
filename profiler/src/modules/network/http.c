#include "http.h"

#include <stdatomic.h>
#include <string.h>

#include "../../runtime/context.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"

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

enum { PARTIAL_CONTENT = 206, FIRST_ERROR = 400 };

struct url {
    char text[URL_BYTES];
};

struct requests {
    _Atomic int64_t requests, partial, failed, received, sent, microseconds, first_byte_microseconds;
};

static const struct url OTHERS = {"other"};
static const struct keyed_shape shape = {
    .key_bytes = sizeof(struct url), .value_bytes = sizeof(struct requests), .most = URLS, .other = &OTHERS};

/* Copies an address without name and password, and without everything after the path, which may hold a key
 * to the data. */
static void keep_place(struct url *url, const char *address)
{
    const char *host, *path, *user;
    size_t scheme = strcspn(address, ":@/?#"), bytes;
    scheme = strncmp(address + scheme, "://", 3) == 0 ? scheme + 3 : 0;
    host = address + scheme;
    path = host + strcspn(host, "/?#");
    user = memrchr(host, '@', (size_t)(path - host));
    host = user ? user + 1 : host;
    bytes = strcspn(host, "?#");
    scheme = scheme < sizeof url->text - 1 ? scheme : 0;
    bytes = bytes < sizeof url->text - 1 - scheme ? bytes : sizeof url->text - 1 - scheme;
    *url = (struct url){{0}};
    memcpy(url->text, address, scheme);
    memcpy(url->text + scheme, host, bytes);
}

static int64_t number(void *easy, int (*getinfo)(void *, int, ...), int which)
{
    int64_t value = 0; /* curl_off_t, which is a long on all supported systems. */
    return getinfo(easy, which, &value) == 0 ? value : 0;
}

void http_on_done(void *easy, int (*getinfo)(void *, int, ...), int result)
{
    struct keyed *rows = iolens_paused() ? NULL : table_state(TABLE_http_requests);
    const char *address = NULL;
    struct url url;
    if (!rows || getinfo(easy, EFFECTIVE_URL, &address) != 0 || !address)
        return;
    keep_place(&url, address);
    struct keyed_row *row = keyed_find(rows, &shape, &url);
    if (!row)
        return;
    struct requests *requests = keyed_value(row, &shape);
    int64_t code = number(easy, getinfo, RESPONSE_CODE);
    requests->requests++;
    requests->partial += code == PARTIAL_CONTENT;
    requests->failed += result != 0 || code >= FIRST_ERROR;
    requests->received += number(easy, getinfo, SIZE_DOWNLOAD);
    requests->sent += number(easy, getinfo, SIZE_UPLOAD);
    requests->microseconds += number(easy, getinfo, TOTAL_TIME);
    requests->first_byte_microseconds += number(easy, getinfo, STARTTRANSFER_TIME);
}

struct row {
    char url[URL_BYTES];
    int64_t rank, requests, partial, failed, received, sent;
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
                          .seconds = (double)requests->microseconds / 1e6,
                          .first_byte_seconds = (double)requests->first_byte_microseconds / 1e6};
        memcpy(row.url, keyed_key(from), sizeof row.url);
        row.url[sizeof row.url - 1] = 0;
        buffer_put(rows, &row, sizeof row);
    }
}

static bool matters(void) { return keyed_made(table_state_known(TABLE_http_requests)) > 0; }

const struct process_table table_http_requests = {
    .name = "http_requests",
    .meaning =
        "Requests of a rank through libcurl, by address; bytes that arrived over a connection stand in "
        "`connections` too",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct keyed),
    .recording.keyed = &shape,
    .recording.matters = matters,
    .merging.collect = collect,
};
