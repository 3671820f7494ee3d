/* Errors, waits, and the values of a step on this rank. */

static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "mimic: rank %d: ", rank);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, ": %s\n", errno ? strerror(errno) : "failed");
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    errno = 0;
    fail("%s: %s", call, text);
}

/* Keep calls that the recorded program did not make out of the log, if iolens records this run. */
static void record(int on)
{
    static void (*set)(int);
    static bool looked;
    if (!looked)
        *(void **)&set = dlsym(RTLD_DEFAULT, "iolens_record");
    looked = true;
    if (set)
        set(on);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Wait until as much time has passed since the last call as in the recorded run; this program itself has
 * already used a part of that time. Short waits are added up until they are long enough for a sleep; a wait
 * that lasted too long shortens the following ones. */
static void pause_for(double seconds)
{
    const double shortest = 1e-4;
    double begin = now();
    if (no_wait)
        return;
    owed += seconds - (begin - last_end);
    last_end = begin;
    if (owed < shortest)
        return;
    if (spin) {
        while (now() - begin < owed)
            ;
    } else {
        struct timespec time = {.tv_sec = (time_t)owed,
                                .tv_nsec = (long)((owed - (double)(time_t)owed) * 1e9)};
        nanosleep(&time, NULL);
    }
    last_end = now();
    owed -= last_end - begin;
}

static long value_of(int number)
{
    const struct number *n = &numbers[number];
    return n->list >= 0 ? lists[n->list + member]
                        : n->base + member % n->period * n->inner + member / n->period * n->outer;
}

static const char *path_of(long file)
{
    static char paths[2][PATH_BYTES];
    static int which;
    which = !which;
#ifdef NAMED
    snprintf(paths[which], PATH_BYTES, "%s/%s", directory, names[file]);
#else
    snprintf(paths[which], PATH_BYTES, "%s/mimic.%06ld", directory, file);
#endif
    return paths[which];
}

static const struct files *facts_of(long file)
{
    const struct files *row = file_rows;
    for (; file >= row->count; row++)
        file -= row->count;
    return row;
}
