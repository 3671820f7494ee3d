/* Bytes over TCP connections that the program made, which the kernel counts for each of them. */
#ifndef IOLENS_CONNECTIONS_H
#define IOLENS_CONNECTIONS_H

#include <sys/socket.h>

#include "../../runtime/wrap.h"

/* Follows a connection after connect returned `result` for `fd`. Only stream sockets of TCP are followed. */
void connections_on_connect(const struct call *c, int result, int fd, const struct sockaddr *address,
                            socklen_t length);

/* Called before the program closes the descriptor: adds the bytes of its connection, if it has one. */
void connections_before_close(int fd);
void connections_before_close_range(unsigned first, unsigned last);

/* The program is about to make `copy` another descriptor of `fd`, which closes what `copy` was. */
void connections_before_replace(int fd, int copy);

/* `copy` has become another descriptor of `fd`. A connection is counted when its last descriptor is closed.
 */
void connections_on_copy(int fd, int copy);

#endif
