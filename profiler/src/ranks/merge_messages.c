#include "merge_messages.h"

#include <stdint.h>

/* Announced by a sender instead of a size if its buffer failed; then nothing follows. After a size, the
 * receiver answers whether it has room. */
static const size_t NOTHING = SIZE_MAX;

static int receive(const struct iolens_transport *transport, int rank, struct buffer *into)
{
    size_t bytes;
    if (transport->receive(&bytes, sizeof bytes, rank) != 0 || bytes == NOTHING)
        return -1;
    void *room = buffer_add(into, bytes);
    uint8_t has_room = room != NULL;
    int result = transport->send(&has_room, sizeof has_room, rank);
    return result == 0 && has_room ? transport->receive(room, bytes, rank) : -1;
}

static int send(const struct iolens_transport *transport, int rank, const struct buffer *from)
{
    uint8_t has_room = 0;
    size_t bytes = from->failed ? NOTHING : from->used;
    if (transport->send(&bytes, sizeof bytes, rank) != 0 || from->failed ||
        transport->receive(&has_room, sizeof has_room, rank) != 0)
        return -1;
    return has_room ? transport->send(from->data, bytes, rank) : -1;
}

/* Follows a binomial tree: a rank collects the bytes of 1, 2, 4 … ranks and sends them to a lower rank. A
 * rank that has no bytes because of an error says so when its turn comes, because the lower rank waits for a
 * message. */
int merge_by_messages(const struct iolens_transport *transport, struct buffer *bytes, merge_add_fn *add,
                      const void *context)
{
    for (int step = 1; step < transport->size; step *= 2) {
        if (transport->rank & step)
            return send(transport, transport->rank - step, bytes);
        if (transport->rank + step >= transport->size)
            continue;
        struct buffer theirs = {0};
        if (receive(transport, transport->rank + step, &theirs) != 0 || bytes->failed ||
            add(bytes, &theirs, context) != 0)
            bytes->failed = true;
        buffer_free(&theirs);
    }
    return bytes->failed ? -1 : 0;
}
