#include "wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool wire_send(int socket, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

bool wire_receive(int socket, void *bytes, size_t count)
{
    char *at = bytes;
    while (count > 0) {
        ssize_t got = recv(socket, at, count, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        count -= (size_t)got;
    }
    return true;
}
