/* The interpreter of the table of steps. */

static void on_descriptor(enum kind kind, const long *value)
{
    long file = value[FILE_NUMBER];
    struct open_file *state = state_of(file);
    switch (kind) {
    case OPEN:
        keep(state, open_file(file, value[DETAIL] ? 0 : facts_of(file)->mode));
        break;
    case DUP:
        keep(state, dup(descriptor_of(file)));
        break;
    case CLOSE:
        close_one(file);
        break;
    case FSYNC:
        fsync(descriptor_of(file));
        break;
    case FDATASYNC:
        fdatasync(descriptor_of(file));
        break;
    case SEEK:
        lseek(descriptor_of(file), 0, SEEK_CUR);
        break;
    default:
        map_one(file);
    }
}

static void perform(const struct step *step, const long *value)
{
    enum kind kind = step->kind;
    if (kind == READ || kind == WRITE)
        move(kind, value);
    else if (kind == FILENO || (kind >= STREAM_OPEN && kind <= STREAM_CLOSE))
        on_stream(kind, value);
    else if (kind >= OPEN && kind <= MAP)
        kind == STAT ? on_path(step, value) : on_descriptor(kind, value);
    else if (kind == MAKE_FOLDER || kind == REMOVE_FOLDER)
        on_folder(kind, value[FILE_NUMBER]);
    else if (kind >= UNLINK && kind <= TRUNCATE)
        on_path(step, value);
    else if (kind == MPI_OPEN)
        mpi_open(value);
    else if (kind == MPI_VIEW)
        mpi_view(value);
    else if (kind >= MPI_WRITE && kind <= MPI_READ_LATER)
        mpi_move(kind, value);
    else if (kind >= MPI_CLOSE && kind <= MPI_SET_SIZE)
        mpi_other(kind, value);
    else if (kind >= BARRIER)
        exchange(kind, value);
}

/* Adds a call to the bytes and seconds of writing or reading. Closing and flushing belong to writing, because
 * data may leave a client only then. */
static void count_call(enum kind kind, long bytes, double seconds)
{
    bool transfer = kind == WRITE || kind == READ || kind == STREAM_WRITE || kind == STREAM_READ ||
                    (kind >= MPI_WRITE && kind <= MPI_READ_LATER);
    bool reads =
        kind == READ || kind == STREAM_READ || (transfer && kind >= MPI_WRITE && (kind - MPI_WRITE) % 2);
    bool flush = kind == CLOSE || kind == FSYNC || kind == FDATASYNC || kind == STREAM_FLUSH ||
                 kind == STREAM_CLOSE || kind == MPI_CLOSE || kind == MPI_SYNC;
    moved[reads] += transfer ? bytes : 0;
    spent[reads] += transfer || flush ? seconds : 0;
}

static void play(const struct step *step, int count, long *turn, int depth)
{
    for (const struct step *end = step + count; step < end; step++) {
        if (step->kind == LOOP) {
            for (turn[depth] = 0; turn[depth] < step->count; turn[depth]++)
                play(step + 1, step->body, turn, depth + 1);
            step += step->body;
            continue;
        }
        long value[VALUES];
        for (int i = 0; i < VALUES; i++) {
            value[i] = value_of(step->value[i]);
            for (int loop = 0; loop < depth; loop++)
                value[i] += turn[loop] * value_of(strides[step->stride + loop][i]);
        }
        pause_for(1e-9 * (double)value_of(step->wait));
        double begin = now();
        perform(step, value);
        last_end = now();
        count_call(step->kind, value[LENGTH], last_end - begin);
    }
}

/* Writes the bytes, and the seconds of the slowest rank, as the result of a workload for `iolens sweep`. */
static void write_result(const char *path)
{
    const char *separator = "";
    double longest[2];
    long total[2];
    record(0);
    MPI_Reduce(spent, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(moved, total, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    FILE *out = fopen(path, "w");
    if (!out)
        fail("write %s", path);
    fprintf(
        out,
        "{\"schema\": 1, \"workload\": \"mimic\", \"ranks\": %d, \"mpi\": {}, \"files\": [], \"phases\": [",
        RANKS);
    for (int i = 0; i < 2; i++)
        if (total[i] > 0) {
            fprintf(out, "%s{\"operation\": \"%s\", \"bytes\": %ld, \"seconds\": {\"max\": %.9f}}", separator,
                    i ? "read" : "write", total[i], longest[i]);
            separator = ", ";
        }
    fprintf(out, "]}\n");
    if (fclose(out) != 0)
        fail("write %s", path);
}

static void make_communicators(void)
{
    MPI_Group all;
    int *those = malloc((size_t)RANKS * sizeof *those);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    communicators[0] = MPI_COMM_WORLD;
    communicators[1] = MPI_COMM_SELF;
    for (int i = 2; i < COMMUNICATORS && those; i++) {
        int count = 0, mine = 0;
        for (size_t row = 0; row < sizeof rank_rows / sizeof *rank_rows; row++)
            for (int j = 0; rank_rows[row].communicator == i && j < rank_rows[row].count; j++) {
                those[count++] = rank_rows[row].first + j * rank_rows[row].stride;
                mine |= those[count - 1] == rank;
            }
        if (mine) {
            MPI_Group group;
            MPI_Group_incl(all, count, those, &group);
            MPI_Comm_create_group(MPI_COMM_WORLD, group, i, &communicators[i]);
            MPI_Group_free(&group);
        }
    }
    MPI_Group_free(&all);
    free(those);
}

/* Makes the files that the recorded program found, and removes those that it did not find. Each rank handles
 * some of the files. */
static void prepare(int size)
{
    (void)mkdir(directory, 0755);
    for (long file = rank; file < FILES; file += size) {
        long before = facts_of(file)->before;
        const char *path = path_of(file);
        if (unlink(path) != 0 && errno != ENOENT)
            (void)rmdir(path);
        int fd = before >= 0 ? open(path, O_RDWR | O_CREAT, 0600) : -1;
        if (before >= 0 && fd < 0)
            fail("make %s", path);
        for (long done = 0; done < before;) {
            long part = before - done < LARGEST ? before - done : LARGEST;
            if (pwrite(fd, memory, (size_t)part, done) != part)
                fail("fill %s", path);
            done += part;
        }
        if (fd >= 0)
            close(fd);
    }
}

static struct program find_program(void)
{
    for (size_t i = 0; i < sizeof member_rows / sizeof *member_rows; i++) {
        const struct members *row = &member_rows[i];
        int beyond = rank - row->first;
        if (beyond >= 0 && beyond % row->stride == 0 && beyond / row->stride < row->count) {
            member = row->member + beyond / row->stride;
            return programs[row->program];
        }
    }
    return (struct program){0, 0};
}

static bool read_options(int count, char **words)
{
    bool only_prepare = false;
    for (int i = 1; i < count; i++) {
        if (strcmp(words[i], "--directory") == 0 && i + 1 < count)
            directory = words[++i];
        else if (strcmp(words[i], "--spin") == 0)
            spin = true;
        else if (strcmp(words[i], "--no-wait") == 0)
            no_wait = true;
        else if (strcmp(words[i], "--prepare") == 0)
            only_prepare = true;
        else if (strcmp(words[i], "--json") == 0 && i + 1 < count)
            result = words[++i];
        else {
            fprintf(stderr,
                    "usage: mimic [--directory DIR] [--json FILE] [--spin] [--no-wait] [--prepare]\n");
            exit(2);
        }
    }
    return only_prepare;
}

int main(int count, char **words)
{
    int size;
    long turn[MOST_LOOPS];
    bool only_prepare = read_options(count, words);
    MPI_Init(&count, &words);
    last_end = now();
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size != RANKS) {
        if (rank == 0)
            fprintf(stderr, "mimic: the recorded run had %d ranks: mpirun -np %d %s\n", RANKS, RANKS,
                    words[0]);
        MPI_Finalize();
        return 2;
    }
    record(0);
    memory = aligned_alloc(4096, ((size_t)(LARGEST + ROOM) / 4096 + 2) * 4096);
    if (!memory)
        fail("no memory for %ld bytes", LARGEST);
    for (size_t i = 0; i < (size_t)LARGEST + 1; i++)
        memory[i] = (char)(i * 2654435761U >> 13);
    make_communicators();
    prepare(size);
    MPI_Barrier(MPI_COMM_WORLD);
    record(1);
    struct program program = find_program();
    if (!only_prepare)
        play(steps + program.first, program.steps, turn, 0);
    if (result)
        write_result(result);
    MPI_Finalize();
    return 0;
}
