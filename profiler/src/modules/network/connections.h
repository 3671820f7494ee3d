/* Bytes over the TCP connections that the program opened; the kernel counts them for each connection. */
#ifndef IOLENS_CONNECTIONS_H
#define IOLENS_CONNECTIONS_H

#include <sys/socket.h>

#include "../../runtime/wrap.h"

/* False if no connection is followed; the functions below then only test this variable. */
extern atomic_bool iolens_connections_used;

static inline bool connections_used(void)
{
    return atomic_load_explicit(&iolens_connections_used, memory_order_relaxed);
}

/* Returns the kernel's number of a socket, which no other socket has; 0 for other descriptors. */
uint64_t connections_cookie(int fd);

/* Follows a connection after connect returned `result` for `fd`, whose cookie was `c->mark` before the call.
 * Only stream sockets of TCP are followed. */
void connections_on_connect(const struct call *c, int result, int fd, const struct sockaddr *address,
                            socklen_t length);

/* Counts the bytes of a connection whose descriptor the program is about to close. */
void connections_end(int fd);
void connections_before_close_range(unsigned first, unsigned last);

/* Counts the bytes of the connection `copy`, which dup3 with these flags is about to replace by a copy of
 * `fd`. Does nothing if the kernel will refuse the call. */
void connections_replace(int fd, int copy, int flags);

/* Follows `copy`, which has become a copy of the descriptor `fd`. A connection is counted when its last
 * descriptor is closed. */
void connections_copy(int fd, int copy);

static inline void connections_before_close(int fd)
{
    if (connections_used())
        connections_end(fd);
}

static inline void connections_before_replace(int fd, int copy, int flags)
{
    if (connections_used())
        connections_replace(fd, copy, flags);
}

static inline void connections_on_copy(int fd, int copy)
{
    if (connections_used())
        connections_copy(fd, copy);
}

/* Requests that the program makes through libcurl, which HDF5's ros3, netCDF and other readers of object
 * stores use. */

/* A transfer that ended with `result`: its handle `easy` of libcurl, and that library's functions
 * curl_easy_getinfo and curl_easy_header (which may be NULL). */
struct http_transfer {
    void *easy;
    int result;
    int (*getinfo)(void *easy, int which, ...);
    int (*header)(void *easy, const char *name, size_t index, unsigned origin, int request, void **found);
};

void http_on_done(const struct http_transfer *transfer);

#endif
