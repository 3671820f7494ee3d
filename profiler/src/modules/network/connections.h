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

#endif
