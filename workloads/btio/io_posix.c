#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store.h"

static void open_file(Store *store, bool writing)
{
    store->descriptor = open(store->path, writing ? O_RDWR | O_CREAT : O_RDONLY, 0666);
    if (store->descriptor < 0)
        trouble_note(&store->trouble, "cannot open %s: %s", store->path, strerror(errno));
}

void posix_open(Store *store, bool writing)
{
    bool first = store->method->own_file || store->domain->rank == 0;
    if (first)
        open_file(store, writing);
    MPI_Barrier(store->domain->comm);
    if (!first)
        open_file(store, writing);
}

void posix_write(Store *store, const void *from, size_t bytes, long long offset)
{
    size_t done = 0;
    while (done < bytes && !store->trouble.any) {
        ssize_t moved =
            pwrite(store->descriptor, (const char *)from + done, bytes - done, offset + (long long)done);
        store->calls++;
        if (moved > 0)
            done += (size_t)moved;
        else if (moved == 0 || errno != EINTR)
            trouble_note(&store->trouble, "cannot write %s: %s", store->path,
                         moved == 0 ? "nothing was written" : strerror(errno));
    }
}

void posix_read(Store *store, void *to, size_t bytes, long long offset)
{
    size_t done = 0;
    while (done < bytes && !store->trouble.any) {
        ssize_t moved = pread(store->descriptor, (char *)to + done, bytes - done, offset + (long long)done);
        store->calls++;
        if (moved > 0)
            done += (size_t)moved;
        else if (moved == 0)
            trouble_note(&store->trouble, "short read: %s ends before byte %lld", store->path,
                         offset + (long long)bytes);
        else if (errno != EINTR)
            trouble_note(&store->trouble, "cannot read %s: %s", store->path, strerror(errno));
    }
}

void posix_close(Store *store)
{
    if (store->descriptor < 0)
        return;
    if (store->flush && fsync(store->descriptor) != 0)
        trouble_note(&store->trouble, "cannot flush %s: %s", store->path, strerror(errno));
    if (close(store->descriptor) != 0)
        trouble_note(&store->trouble, "cannot close %s: %s", store->path, strerror(errno));
    store->descriptor = -1;
}
