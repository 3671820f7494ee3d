#include "connections.h"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/resource.h>

#include "../../system/spin.h"
#include "../../tables/keyed.h"
#include "../../tables/process_table.h"

enum {
    DESCRIPTORS = 4096, /* Connections with higher descriptors are not followed. */
    END_POINTS = 1000,  /* Largest number of rows of a process; further end points share one row. */
    ADDRESS_BYTES = 56, /* Room for "[", an IPv6 address, "]:", and a port. */
};

/* States of a connection, by the kernel's numbers (include/net/tcp_states.h). */
enum { TCP_CLOSE = 7, TCP_CLOSE_WAIT = 8, TCP_LAST_ACK = 9, TCP_CLOSING = 11 };

struct end_point {
    char address[ADDRESS_BYTES];
};

struct traffic {
    _Atomic int64_t connections, established, open_at_end;
    _Atomic int64_t received, sent, resent;
    _Atomic int64_t connect_ns, busy_us, limited_us,
        shortest_rtt_us; /* shortest_rtt_us is 0 if no round trip was measured. */
};

/* An open connection, found by its descriptor. The kernel's cookie distinguishes it from a later socket
 * with the same descriptor. */
struct connection {
    /* Row of the connection's end point; NULL if the descriptor is not a followed connection. */
    _Atomic(struct keyed_row *) row;
    _Atomic uint64_t cookie;
};

struct connections {
    struct keyed rows;
    struct spin ending;
    _Atomic int64_t copies; /* Number of copies that were made of connections' descriptors, whether or not
                             * they have been closed. */
    struct connection of[DESCRIPTORS];
};

atomic_bool iolens_connections_used;

static const struct end_point OTHERS = {"other"};
static const struct keyed_shape shape = {.key_bytes = sizeof(struct end_point),
                                         .value_bytes = sizeof(struct traffic),
                                         .most = END_POINTS,
                                         .other = &OTHERS};

uint64_t connections_cookie(int fd)
{
    uint64_t cookie = 0;
    socklen_t bytes = sizeof cookie;
    return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &bytes) == 0 ? cookie : 0;
}

static bool is_tcp(int fd)
{
    int protocol = 0;
    socklen_t bytes = sizeof protocol;
    return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &bytes) == 0 && protocol == IPPROTO_TCP;
}

/* Returns false for an address that is neither IPv4 nor IPv6. */
static bool name_end_point(struct end_point *point, const struct sockaddr *address, socklen_t length)
{
    char text[INET6_ADDRSTRLEN];
    *point = (struct end_point){0};
    if (address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *four = (const void *)address;
        snprintf(point->address, sizeof point->address, "%s:%u",
                 inet_ntop(AF_INET, &four->sin_addr, text, sizeof text), ntohs(four->sin_port));
        return true;
    }
    if (address->sa_family == AF_INET6 && length >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *six = (const void *)address;
        snprintf(point->address, sizeof point->address, "[%s]:%u",
                 inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text), ntohs(six->sin6_port));
        return true;
    }
    return false;
}

static void keep_smallest(_Atomic int64_t *smallest, int64_t value)
{
    int64_t before = *smallest;
    while (value > 0 && (before == 0 || value < before) &&
           !atomic_compare_exchange_weak(smallest, &before, value))
        ;
}

/* Returns the bytes that arrived on a connection. The kernel counts the FIN of the other end as a byte, which
 * is left out. */
static int64_t bytes_received(const struct tcp_info *info)
{
    bool ended = info->tcpi_state == TCP_CLOSE_WAIT || info->tcpi_state == TCP_LAST_ACK ||
                 info->tcpi_state == TCP_CLOSING || info->tcpi_state == TCP_CLOSE;
    return (int64_t)info->tcpi_bytes_received - (ended && info->tcpi_bytes_received > 0);
}

/* Adds what the kernel has counted for a connection. On kernels before 4.19, which do not tell the bytes
 * sent, connections are left out, also from the number of established connections. Bytes that still wait to
 * be sent count as sent, because the program's call has already returned. */
static void add_connection(struct keyed_row *row, int fd, bool at_end)
{
    struct traffic *traffic = keyed_value(row, &shape);
    struct tcp_info info = {0};
    socklen_t bytes = sizeof info;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0 ||
        bytes < offsetof(struct tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans)
        return;
    traffic->established += info.tcpi_rtt > 0;
    traffic->open_at_end += at_end;
    traffic->received += bytes_received(&info);
    traffic->sent += (int64_t)(info.tcpi_bytes_sent - info.tcpi_bytes_retrans) + info.tcpi_notsent_bytes;
    traffic->resent += (int64_t)info.tcpi_bytes_retrans;
    traffic->busy_us += (int64_t)info.tcpi_busy_time;
    traffic->limited_us += (int64_t)(info.tcpi_rwnd_limited + info.tcpi_sndbuf_limited);
    keep_smallest(&traffic->shortest_rtt_us, info.tcpi_rtt > 0 ? info.tcpi_min_rtt : 0);
}

static bool is_open_elsewhere(const struct connections *state, uint64_t cookie)
{
    for (int fd = 0; state->copies > 0 && fd < DESCRIPTORS; fd++)
        if (state->of[fd].row && state->of[fd].cookie == cookie && connections_cookie(fd) == cookie)
            return true;
    return false;
}

/* Stops following the descriptor, and counts its connection unless another descriptor still refers to it. */
static void end_connection(struct connections *state, int fd, bool at_end)
{
    struct connection *connection = &state->of[fd];
    if (!atomic_load_explicit(&connection->row, memory_order_relaxed))
        return;
    spin_lock(&state->ending);
    uint64_t cookie = connection->cookie;
    struct keyed_row *row = atomic_exchange(&connection->row, NULL);
    bool ends = row && connections_cookie(fd) == cookie && !is_open_elsewhere(state, cookie);
    spin_unlock(&state->ending);
    if (ends)
        add_connection(row, fd, at_end);
}

void connections_on_connect(const struct call *c, int result, int fd, const struct sockaddr *address,
                            socklen_t length)
{
    int error = result == 0 ? 0 : *errno_place();
    struct end_point point;
    /* After EFAULT and EINVAL the address may be invalid and must not be read; EALREADY and EISCONN concern a
       connection that is already known. */
    if (error == EFAULT || error == EINVAL || error == EALREADY || error == EISCONN || iolens_paused() ||
        !is_tcp(fd) || !name_end_point(&point, address, length))
        return;
    struct connections *state = table_state(TABLE_connections);
    struct keyed_row *row = state ? keyed_find(&state->rows, &shape, &point) : NULL;
    uint64_t cookie = (uint64_t)c->mark;
    /* Another thread may have closed the descriptor during the call, and another socket may have it now. */
    if (!row || connections_cookie(fd) != cookie ||
        (fd < DESCRIPTORS && state->of[fd].row && state->of[fd].cookie == cookie))
        return;
    struct traffic *traffic = keyed_value(row, &shape);
    traffic->connections++;
    traffic->connect_ns += clock_ns_of(c->t1 - c->t0);
    /* After EINTR the kernel continues to connect, as for a non-blocking socket. */
    if (fd < DESCRIPTORS && (error == 0 || error == EINPROGRESS || error == EINTR)) {
        state->of[fd].cookie = cookie;
        state->of[fd].row = row;
        iolens_connections_used = true;
    }
}

void connections_end(int fd)
{
    struct connections *state = table_state_known(TABLE_connections);
    if (state && fd >= 0 && fd < DESCRIPTORS)
        end_connection(state, fd, false);
}

/* Returns true if the kernel will replace a descriptor by a copy. It refuses unknown flags, a source that is
 * not open, and a descriptor above the limit. */
static bool may_replace(int fd, int copy, int flags)
{
    struct rlimit limit;
    return fd != copy && (flags & ~O_CLOEXEC) == 0 && system_call(SYS_fcntl, fd, F_GETFD) >= 0 &&
           system_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 && (rlim_t)copy < limit.rlim_cur;
}

void connections_replace(int fd, int copy, int flags)
{
    struct connections *state = table_state_known(TABLE_connections);
    if (state && copy >= 0 && copy < DESCRIPTORS && state->of[copy].row && may_replace(fd, copy, flags))
        end_connection(state, copy, false);
}

void connections_copy(int fd, int copy)
{
    struct connections *state = table_state_known(TABLE_connections);
    if (!state || fd == copy || fd < 0 || fd >= DESCRIPTORS || copy < 0 || copy >= DESCRIPTORS)
        return;
    struct keyed_row *row = state->of[fd].row;
    if (!row)
        return;
    state->copies++;
    state->of[copy].cookie = state->of[fd].cookie;
    state->of[copy].row = row;
}

void connections_before_close_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; connections_used() && fd <= last && fd < DESCRIPTORS; fd++)
        connections_end((int)fd);
}

static void end(void)
{
    struct connections *state = table_state_known(TABLE_connections);
    for (int fd = 0; state && fd < DESCRIPTORS; fd++)
        end_connection(state, fd, true);
}

struct row {
    char address[ADDRESS_BYTES];
    int64_t rank, connections, established, open_at_end, received, sent, resent;
    double connect_seconds, busy_seconds, limited_seconds, shortest_rtt;
};

static const struct column COLUMNS[] = {
    TEXT(address, "S56",
         "address and port at the other end; `other`: all addresses without a row of their own", TEXT_NAME),
    COLUMN(rank, "<i8", "rank", "the rank to which these numbers belong"),
    COLUMN(connections, "<i8", "connections", "connections that the rank tried to open"),
    COLUMN(established, "<i8", "connections",
           "connections that the other end accepted and whose bytes are known"),
    COLUMN(open_at_end, "<i8", "connections", "connections that were still open when recording ended"),
    COLUMN(received, "<i8", "B",
           "bytes that arrived, as the kernel counted them; of a connection that was reset, one byte may be "
           "missing"),
    COLUMN(sent, "<i8", "B", "bytes that were sent, each once"),
    COLUMN(resent, "<i8", "B", "bytes that were sent again, because they were lost or late"),
    COLUMN(connect_seconds, "<f8", "s", "time in connect"),
    COLUMN(busy_seconds, "<f8", "s",
           "time with bytes on their way to the other end, summed over connections"),
    COLUMN(limited_seconds, "<f8", "s",
           "the part of `busy_seconds` in which the receiver or the send buffer had no room"),
    COLUMN(shortest_rtt, "<f8", "s", "the shortest round trip; 0 if none was measured"),
};

static void collect(const struct iolens_transport *transport, struct buffer *rows)
{
    const struct connections *state = table_state_known(TABLE_connections);
    for (struct keyed_row *from = state ? keyed_first(&state->rows) : NULL; from; from = keyed_next(from)) {
        const struct traffic *traffic = keyed_value(from, &shape);
        struct row row = {.rank = transport->rank,
                          .connections = traffic->connections,
                          .established = traffic->established,
                          .open_at_end = traffic->open_at_end,
                          .received = traffic->received,
                          .sent = traffic->sent,
                          .resent = traffic->resent,
                          .connect_seconds = (double)traffic->connect_ns / 1e9 * iolens.timeline.factor,
                          .busy_seconds = (double)traffic->busy_us / 1e6,
                          .limited_seconds = (double)traffic->limited_us / 1e6,
                          .shortest_rtt = (double)traffic->shortest_rtt_us / 1e6};
        memcpy(row.address, keyed_key(from), sizeof row.address);
        row.address[sizeof row.address - 1] = 0;
        buffer_put(rows, &row, sizeof row);
    }
}

const struct process_table table_connections = {
    .name = "connections",
    .meaning = "TCP connections that a rank made, by the address of the other end. If the process was "
               "killed, only closed connections are complete",
    TABLE_ROWS(COLUMNS),
    .recording.state_bytes = sizeof(struct connections),
    .recording.keyed = &shape,
    .recording.end = end,
    .recording.matters_if_used = true,
    .merging.collect = collect,
};
