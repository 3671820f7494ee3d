#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

typedef struct Path {
    char text[PATH_MAX];
} Path;

static Path folder_of(const Items *items, int owner)
{
    Path path;
    if (items->config->unique)
        snprintf(path.text, sizeof path.text, "%s/items.%d", items->config->directory, owner);
    else
        snprintf(path.text, sizeof path.text, "%s/items", items->config->directory);
    return path;
}

static Path path_of(const Items *items, int owner, int item)
{
    Path path;
    if (items->config->unique)
        snprintf(path.text, sizeof path.text, "%s/items.%d/file.%d.%d", items->config->directory, owner,
                 owner, item);
    else
        snprintf(path.text, sizeof path.text, "%s/items/file.%d.%d", items->config->directory, owner, item);
    return path;
}

static void note(Trouble *trouble, const char *what, const Path *path)
{
    trouble_note(trouble, "cannot %s %s: %s", what, path->text, strerror(errno));
}

/* Fills the content of a file, which differs from that of every other file. */
static void fill(unsigned char *content, int64_t bytes, int owner, int item)
{
    for (int64_t k = 0; k < bytes; k++)
        content[k] = (unsigned char)(owner * 31 + item * 7 + k);
}

void items_make(Items *items, const Config *config, MPI_Comm comm)
{
    *items = (Items){.config = config, .comm = comm};
    MPI_Comm_rank(comm, &items->rank);
    MPI_Comm_size(comm, &items->ranks);
    items->content = allocate(1, (size_t)config->write_bytes);
    items->seen = allocate(1, (size_t)config->write_bytes);
}

void items_free(Items *items)
{
    free(items->content);
    free(items->seen);
}

static bool write_all(int file, const unsigned char *content, int64_t bytes)
{
    for (int64_t done = 0; done < bytes;) {
        ssize_t written = write(file, content + done, (size_t)(bytes - done));
        if (written < 0)
            return false;
        done += written;
    }
    return true;
}

/* Returns the bytes read, fewer at the end of the file; negative on error. */
static int64_t read_all(int file, unsigned char *content, int64_t bytes)
{
    int64_t done = 0;
    for (ssize_t got = 1; done < bytes && got > 0; done += got) {
        got = read(file, content + done, (size_t)(bytes - done));
        if (got < 0)
            return -1;
    }
    return done;
}

void item_create(const Items *items, int owner, int item, Trouble *trouble)
{
    const Config *config = items->config;
    Path path = path_of(items, owner, item);
    int file = open(path.text, O_CREAT | O_EXCL | O_WRONLY, 0666);
    if (file < 0) {
        note(trouble, "create", &path);
        return;
    }
    if (config->write_bytes > 0) {
        fill(items->content, config->write_bytes, owner, item);
        if (!write_all(file, items->content, config->write_bytes))
            note(trouble, "write", &path);
    }
    if (config->sync && fsync(file) != 0)
        note(trouble, "flush", &path);
    if (close(file) != 0)
        note(trouble, "close", &path);
}

void item_stat(const Items *items, int owner, int item, Trouble *trouble)
{
    Path path = path_of(items, owner, item);
    struct stat about;
    if (stat(path.text, &about) != 0)
        note(trouble, "look at", &path);
    else if (about.st_size != items->config->write_bytes)
        trouble_note(trouble, "%s has %lld bytes, not %lld", path.text, (long long)about.st_size,
                     (long long)items->config->write_bytes);
}

void item_read(const Items *items, int owner, int item, Trouble *trouble)
{
    int64_t bytes = items->config->read_bytes;
    Path path = path_of(items, owner, item);
    int file = open(path.text, O_RDONLY);
    if (file < 0) {
        note(trouble, "open", &path);
        return;
    }
    int64_t got = read_all(file, items->seen, bytes);
    if (got < 0)
        note(trouble, "read", &path);
    close(file);
    fill(items->content, bytes, owner, item);
    if (got >= 0 && (got < bytes || memcmp(items->seen, items->content, (size_t)bytes) != 0))
        trouble_note(trouble, "%s has wrong content in its first %lld bytes", path.text, (long long)bytes);
}

void item_remove(const Items *items, int owner, int item, Trouble *trouble)
{
    Path path = path_of(items, owner, item);
    if (unlink(path.text) != 0)
        note(trouble, "remove", &path);
}

static bool has_folder(const Items *items) { return items->config->unique || items->rank == 0; }

void folders_make(const Items *items, Trouble *trouble)
{
    Path path = folder_of(items, items->rank);
    bool made = has_folder(items) && mkdir(path.text, 0777) == 0;
    if (has_folder(items) && !made && errno == EEXIST)
        trouble_note(trouble, "the file %s exists, left by an earlier run; remove it, or run with -r first",
                     path.text);
    else if (has_folder(items) && !made)
        note(trouble, "make", &path);
    if (trouble_shared(trouble, items->comm) && made)
        rmdir(path.text);
}

void folders_remove(const Items *items, Trouble *trouble)
{
    Path path = folder_of(items, items->rank);
    MPI_Barrier(items->comm);
    if (has_folder(items) && rmdir(path.text) != 0)
        note(trouble, "remove", &path);
    trouble_shared(trouble, items->comm);
}

void items_clear(const Items *items)
{
    Trouble ignored = {0};
    for (int i = 0; i < items->config->items; i++) {
        Path path = path_of(items, items->rank, i);
        unlink(path.text);
    }
    folders_remove(items, &ignored);
}
