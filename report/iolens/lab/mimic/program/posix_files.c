/* Calls on files and folders below MPI-IO. */

static struct open_file *state_of(long file)
{
    if (!open_files[file]) {
        open_files[file] = calloc(1, sizeof **open_files);
        if (!open_files[file])
            fail("no memory for file %ld", file);
        open_files[file]->later = MPI_REQUEST_NULL;
        for (size_t i = 0; i < sizeof misaligned_rows / sizeof *misaligned_rows; i++)
            if (misaligned_rows[i].file == file && misaligned_rows[i].rank == rank)
                open_files[file]->misaligned = misaligned_rows[i].transfers;
    }
    return open_files[file];
}

/* Makes an empty file; iolens does not record this call. */
static void create_quietly(long file)
{
    record(0);
    int fd = open(path_of(file), O_RDWR | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    record(1);
}

/* Without permissions, only opens a file that another rank has made. */
static int open_file(long file, long mode)
{
    int fd = mode ? open(path_of(file), O_RDWR | O_CREAT, (mode_t)mode) : open(path_of(file), O_RDWR);
    if (fd < 0) {
        create_quietly(file);
        fd = mode ? open(path_of(file), O_RDWR | O_CREAT, (mode_t)mode) : open(path_of(file), O_RDWR);
    }
    if (fd < 0)
        fail("open %s", path_of(file));
    return fd;
}

static void keep(struct open_file *state, int fd)
{
    if (fd < 0 || state->opened == MOST_OPEN)
        fail("too many open files");
    state->fd[state->opened++] = fd;
}

/* If the recorded run opened the descriptor before recording began, opens it now without recording. */
static int descriptor_of(long file)
{
    struct open_file *state = state_of(file);
    if (!state->opened) {
        record(0);
        keep(state, open_file(file, facts_of(file)->mode));
        record(1);
    }
    return state->fd[state->opened - 1];
}

static char *data_of(struct open_file *state)
{
    return memory + (state->misaligned > 0 && state->misaligned-- > 0);
}

/* Extends the file, without recording, so that a read gets as many bytes as the recorded read. */
static void need_size(struct open_file *state, int fd, long end)
{
    struct stat info;
    if (end <= state->known_size)
        return;
    record(0);
    if (fstat(fd, &info) != 0 || (info.st_size < end && pwrite(fd, "", 1, end - 1) != 1))
        fail("extend a file to %ld bytes", end);
    record(1);
    state->known_size = end > info.st_size ? end : info.st_size;
}

static void move(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    int fd = descriptor_of(value[FILE_NUMBER]);
    size_t bytes = (size_t)value[LENGTH];
    char *data = data_of(state);
    if (kind == READ && bytes > 0)
        need_size(state, fd, value[OFFSET] + value[LENGTH]);
    ssize_t done =
        kind == READ ? pread(fd, data, bytes, value[OFFSET]) : pwrite(fd, data, bytes, value[OFFSET]);
    if (done != (ssize_t)bytes)
        fail("%s of %zu bytes at %ld in %s", kind == READ ? "read" : "write", bytes, value[OFFSET],
             path_of(value[FILE_NUMBER]));
}

static void close_one(long file)
{
    int fd = descriptor_of(file);
    state_of(file)->opened--;
    close(fd);
}

static void map_one(long file)
{
    void *place = mmap(NULL, 4096, PROT_READ, MAP_SHARED, descriptor_of(file), 0);
    if (place != MAP_FAILED)
        munmap(place, 4096);
}

static off_t size_of(const char *path)
{
    struct stat info;
    record(0);
    int code = stat(path, &info);
    record(1);
    return code == 0 ? info.st_size : 0;
}

/* Makes the call of a step on a path; the call succeeds only if the path exists. */
static int try_path(const struct step *step, const long *value)
{
    struct stat info;
    const char *path = path_of(value[FILE_NUMBER]);
    switch (step->kind) {
    case STAT:
        return stat(path, &info);
    case UNLINK:
        return unlink(path);
    case TRUNCATE:
        return truncate(path, size_of(path));
    default:
        return rename(path, path_of(value[DETAIL]));
    }
}

static void on_path(const struct step *step, const long *value)
{
    if (try_path(step, value) == 0)
        return;
    create_quietly(value[FILE_NUMBER]);
    if (try_path(step, value) != 0)
        fail("a call on %s", path_of(value[FILE_NUMBER]));
}

static void on_folder(enum kind kind, long file)
{
    const char *path = path_of(file);
    if ((kind == MAKE_FOLDER ? mkdir(path, 0755) : rmdir(path)) == 0)
        return;
    record(0);
    if (kind == MAKE_FOLDER)
        (void)(rmdir(path) == 0 || unlink(path) == 0);
    else
        mkdir(path, 0755);
    record(1);
    if ((kind == MAKE_FOLDER ? mkdir(path, 0755) : rmdir(path)) != 0)
        fail("a call on folder %s", path);
}
