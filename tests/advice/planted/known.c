/* Programs for the set `thresholds`, with faults whose strength the bundled workloads cannot vary: `mpirun
 * -np N known NAME DIR [KEY=VALUE ...]`. Each program prints the seconds between its first and last
 * barrier. */

#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MIB = 1 << 20, MOST_THREADS = 64 };

static int rank, ranks, words;
static char **word, path[4096], data[4 * MIB];

static double option(const char *key, double otherwise)
{
    size_t length = strlen(key);
    for (int i = 3; i < words; i++)
        if (!strncmp(word[i], key, length) && word[i][length] == '=')
            return atof(word[i] + length + 1);
    return otherwise;
}

static void require(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int opened(const char *name, int number, int flags)
{
    snprintf(path, sizeof path, "%s/%s.%d", word[2], name, number);
    int file = open(path, flags, 0644);
    require(file >= 0, path);
    return file;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void idle(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&left, NULL);
}

/* Computes by counting; the time does not depend on the number of ranks if each has a core. */
static void count_up(double millions)
{
    for (volatile long i = 0; i < (long)(millions * 1e6); i++)
        ;
}

/* Writes a file on each rank, `abreast` ranks at a time, with a sync after each `sync` writes. All ranks
 * except the first write `others` bytes. The files lie in folders t0, t1 and so on, if `targets` gives their
 * number. With `beside`, rank 0 makes one more file, in the folder `beside`. */
static void steps(void)
{
    char name[32] = "steps";
    int targets = (int)option("targets", 0);
    if (targets)
        snprintf(name, sizeof name, "t%d/steps", rank % targets);
    if (option("beside", 0) > 0 && !rank)
        close(opened("beside/report", 0, O_CREAT | O_WRONLY));
    size_t piece = (size_t)option("piece", MIB);
    double bytes = option("bytes", 8e6);
    long count = (long)((rank ? option("others", bytes) : bytes) / (double)piece),
         every = (long)option("sync", 0);
    int abreast = (int)option("abreast", ranks);
    for (int first = 0; first < ranks; first += abreast) {
        if (rank >= first && rank < first + abreast) {
            int file = opened(name, rank, O_CREAT | O_WRONLY);
            for (long i = 0; i < count; i++) {
                require(write(file, data, piece) == (ssize_t)piece, "write");
                if (every && i % every == every - 1)
                    fsync(file);
            }
            close(file);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Reads each rank's input, with `seeks` seeks before each read. A share `back` of the reads goes back in the
 * file; a share `checked` of the input is read again at the end. */
static void probe(void)
{
    size_t piece = (size_t)option("piece", 100000);
    long count = (long)(option("bytes", 8e6) / (double)piece), seeks = (long)option("seeks", 0);
    double back = option("back", 0), due = 0;
    int file = opened("input", rank, O_RDONLY);
    for (long i = 0; i < count; i++) {
        long at = i;
        for (long k = 0; k < seeks; k++)
            lseek(file, i * (off_t)piece, SEEK_SET);
        due += back;
        if (due >= 1) {
            due -= 1;
            at = i / 3;
        }
        require(pread(file, data, piece, at * (off_t)piece) > 0, "read");
    }
    for (long i = 0; i < (long)((double)count * option("checked", 0)); i++)
        require(pread(file, data, piece, i * (off_t)piece) > 0, "read");
    close(file);
}

/* Writes a journal, which is closed and opened again after every `keep` records. */
static void journal(void)
{
    size_t piece = (size_t)option("piece", 200000);
    long count = (long)(option("bytes", 8e6) / (double)piece), keep = (long)option("keep", (double)count);
    int file = -1;
    for (long i = 0; i < count; i++) {
        if (i % keep == 0)
            file = opened("journal", rank, O_CREAT | O_WRONLY | O_APPEND);
        require(write(file, data, piece) == (ssize_t)piece, "write");
        if (i % keep == keep - 1 || i == count - 1)
            close(file);
    }
}

/* Writes a file of each rank; before each write the rank holds a lock, which `sharing` ranks share, for
 * `hold` seconds. */
static void locks(void)
{
    int sharing = (int)option("sharing", 1);
    long count = (long)option("count", 40);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    int common = opened("common", rank / sharing, O_CREAT | O_RDWR),
        file = opened("own", rank, O_CREAT | O_WRONLY);
    for (long i = 0; i < count; i++) {
        require(fcntl(common, F_SETLKW, &lock) == 0, "fcntl");
        idle(option("hold", 0.01));
        fcntl(common, F_SETLK, &none);
        require(write(file, data, MIB) == MIB, "write");
    }
    close(file);
    close(common);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double held;
static long turns_of_thread;

static void *thread(void *none)
{
    for (long i = 0; i < turns_of_thread; i++) {
        pthread_mutex_lock(&mutex);
        idle(held);
        pthread_mutex_unlock(&mutex);
        count_up(option("work", 1));
    }
    return none;
}

/* Runs `threads` threads in each rank, which in turn hold one mutex for `hold` seconds. */
static void convoy(void)
{
    pthread_t made[MOST_THREADS];
    int threads = (int)option("threads", 4);
    held = option("hold", 0);
    turns_of_thread = (long)option("count", 100);
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, thread, NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], NULL);
}

static void *worker(void *none)
{
    count_up(option("work", 100));
    return none;
}

/* Computes in `threads` threads of each rank. */
static void crowd(void)
{
    pthread_t made[MOST_THREADS];
    int threads = (int)option("threads", 1);
    for (int i = 1; i < threads; i++)
        pthread_create(&made[i], NULL, worker, NULL);
    worker(NULL);
    for (int i = 1; i < threads; i++)
        pthread_join(made[i], NULL);
}

/* Searches for `items` files in `folders` folders that do not have them; then each rank writes a file. */
static void look(void)
{
    struct stat found;
    for (int i = 0; i < (int)option("items", 0); i++)
        for (int k = 0; k < (int)option("folders", 10); k++) {
            snprintf(path, sizeof path, "%s/share/part%d/table%d", word[2], k, i);
            stat(path, &found);
        }
    steps();
}

/* Makes the inputs for `probe`. */
static void make_input(void)
{
    int file = opened("input", rank, O_CREAT | O_WRONLY);
    for (double done = 0; done < option("bytes", 8e6); done += MIB)
        require(write(file, data, MIB) == MIB, "write");
    close(file);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {{"steps", steps},   {"probe", probe}, {"journal", journal}, {"locks", locks},
                {"convoy", convoy}, {"crowd", crowd}, {"look", look},       {"make-input", make_input}};

int main(int count, char **given)
{
    MPI_Init(&count, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    words = count;
    word = given;
    for (size_t i = 0; count > 2 && i < sizeof programs / sizeof *programs; i++)
        if (!strcmp(programs[i].name, given[1])) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begin = now();
            idle(option("idle", 0.5));
            programs[i].run();
            MPI_Barrier(MPI_COMM_WORLD);
            if (!rank)
                printf("seconds %.6f\n", now() - begin - option("idle", 0.5));
            MPI_Finalize();
            return 0;
        }
    return 2;
}
