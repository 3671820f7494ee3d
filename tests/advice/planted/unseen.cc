// The programs of the test half: small applications in C++ that do their I/O wrongly in a degree that the
// command line says, down to not at all. Usage: mpirun -np N unseen NAME DIR [KEY=VALUE ...]. Prints the
// seconds of its I/O.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mpi.h>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

static int rank, ranks;
static std::string folder;
static std::map<std::string, double> given;
static std::vector<char> data(64 << 20, 'x');

static double option(const std::string &key, double otherwise = 0)
{
    auto found = given.find(key);
    return found == given.end() ? otherwise : found->second;
}

static void require(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void idle(double seconds)
{
    timespec time{(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, nullptr);
}

// DIR/tT/NAME.RANK if `targets` names folders, one for each storage target; else DIR/NAME.RANK.
static std::string own(const std::string &name)
{
    int targets = (int)option("targets");
    std::string place = targets ? "/t" + std::to_string(rank % targets) : "";
    return folder + place + "/" + name + "." + std::to_string(rank);
}

static int opened(const std::string &path, int flags)
{
    int file = open(path.c_str(), flags, 0644);
    require(file >= 0, path.c_str());
    return file;
}

// Particles: each rank appends blocks to a file of its own, `part` of all bytes comes from rank 0. With
// `beside`, rank 0 makes one more file, in a folder of that name.
static void particles()
{
    if (option("beside") > 0 && !rank)
        close(opened(folder + "/beside/report", O_CREAT | O_WRONLY));
    double bytes = option("bytes", 8e6), part = option("part");
    if (part > 0)
        bytes = rank == 0 ? bytes * ranks * part : bytes * ranks * (1 - part) / (ranks - 1);
    size_t piece = (size_t)option("piece", 4 << 20);
    int every = (int)option("sync"), passes = (int)option("passes", 1);
    long count = (long)(bytes / (double)piece + 0.5);
    if (!count)
        return;
    int file = opened(own("particles"), O_CREAT | O_WRONLY);
    for (int pass = 0; pass < passes; pass++) {
        lseek(file, 0, SEEK_SET);
        for (long i = 0; i < count; i++) {
            require(write(file, data.data(), piece) == (ssize_t)piece, "write");
            if (every && i % every == every - 1)
                fsync(file);
        }
    }
    close(file);
}

// Tracks: each rank reads its own input, a share `mixed` of the pieces in no order, `seeks` seeks before
// each. At the end it reads a share `checked` of them again.
static void tracks()
{
    double bytes = option("bytes", 8e6), part = option("part");
    if (part > 0)
        bytes = rank == 0 ? bytes * ranks * part : bytes * ranks * (1 - part) / (ranks - 1);
    size_t piece = (size_t)option("piece", 4 << 20);
    long count = (long)(bytes / (double)piece + 0.5);
    int passes = (int)option("passes", 1), seeks = (int)option("seeks");
    std::vector<long> order(count);
    std::iota(order.begin(), order.end(), 0L);
    std::shuffle(order.begin(), order.begin() + (long)((double)count * option("mixed")),
                 std::mt19937(rank + 1));
    if (!count)
        return;
    int file = opened(own("input"), O_RDONLY);
    for (int pass = 0; pass < passes; pass++)
        for (long i = 0; i < count; i++) {
            for (int k = 0; k < seeks; k++)
                lseek(file, 0, SEEK_END);
            require(pread(file, data.data(), piece, order[i] * (off_t)piece) > 0, "read");
        }
    for (long i = 0; i < (long)((double)count * option("checked")); i++)
        require(pread(file, data.data(), piece, i * (off_t)piece) > 0, "read");
    close(file);
}

// Image: all ranks write rows of one file, in turn or (`blocks`) each in one contiguous part, at an offset of
// `shift`.
static void image()
{
    size_t piece = (size_t)option("piece", 1 << 20);
    long count = (long)(option("bytes", 8e6) / (double)piece + 0.5);
    bool blocks = option("blocks") > 0;
    off_t shift = (off_t)option("shift");
    int file = opened(folder + "/image", O_CREAT | O_WRONLY);
    for (long i = 0; i < count; i++) {
        long row = blocks ? rank * count + i : i * ranks + rank;
        require(pwrite(file, data.data(), piece, shift + row * (off_t)piece) == (ssize_t)piece, "write");
    }
    close(file);
}

// Field: writes the rows of one file through MPI-IO, independent or (`together`) collective; ranks take rows
// in turn, or (`blocks`) a contiguous block each.
static void field()
{
    size_t piece = (size_t)option("piece", 1 << 20);
    long count = (long)(option("bytes", 8e6) / (double)piece + 0.5);
    bool together = option("together") > 0, blocks = option("blocks") > 0;
    MPI_File file;
    std::string path = folder + "/field";
    require(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                          &file) == 0,
            "MPI_File_open");
    for (long i = 0; i < count; i++) {
        MPI_Offset at = (MPI_Offset)(blocks ? rank * count + i : i * ranks + rank) * (MPI_Offset)piece;
        if (together)
            MPI_File_write_at_all(file, at, data.data(), (int)piece, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_write_at(file, at, data.data(), (int)piece, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

// Relay: groups of `abreast` ranks write at the same time, a group after the other.
static void relay()
{
    int abreast = std::max(1, (int)option("abreast", ranks)), token = 0;
    if (rank >= abreast)
        MPI_Recv(&token, 1, MPI_INT, rank - abreast, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    particles();
    if (rank + abreast < ranks)
        MPI_Send(&token, 1, MPI_INT, rank + abreast, 0, MPI_COMM_WORLD);
}

// Catalog: writes particles; then each rank makes `items` files of 64 bytes and asks for the status of each
// `looks` times.
static void catalog()
{
    int items = (int)option("items"), looks = (int)option("looks");
    struct stat found;
    particles();
    for (int i = 0; i < items; i++) {
        std::string path = own("item") + "." + std::to_string(i);
        int file = opened(path, O_CREAT | O_WRONLY);
        require(write(file, data.data(), 64) == 64, "write");
        close(file);
    }
    for (int k = 0; k < looks; k++)
        for (int i = 0; i < items; i++)
            stat((own("item") + "." + std::to_string(i)).c_str(), &found);
}

// Diary: writes records to one file, which it opens anew for every `keep` records (default: once).
static void diary()
{
    size_t piece = (size_t)option("piece", 1 << 20);
    long count = (long)(option("bytes", 8e6) / (double)piece + 0.5),
         keep = std::max(1L, (long)option("keep", 1e9));
    int file = -1;
    for (long i = 0; i < count; i++) {
        if (i % keep == 0)
            file = opened(own("diary"), O_CREAT | O_WRONLY | O_APPEND);
        require(write(file, data.data(), piece) == (ssize_t)piece, "write");
        if (i % keep == keep - 1 || i == count - 1)
            close(file);
    }
}

// Status: writes particles; then `count` times the same 16 bytes of a small file.
static void status()
{
    long count = (long)option("count");
    particles();
    if (!count)
        return;
    int file = opened(own("status"), O_CREAT | O_WRONLY);
    for (long i = 0; i < count; i++)
        require(pwrite(file, data.data(), 16, 0) == 16, "write");
    close(file);
}

// Table: the first `readers` ranks read all of one input file; if other ranks need it, rank 0 sends it to
// them.
static void table()
{
    size_t piece = 1 << 20;
    long count = (long)(option("bytes", 8e6) / (double)piece + 0.5);
    int readers = (int)option("readers", 1);
    if (rank < readers) {
        int file = opened(folder + "/table", O_RDONLY);
        for (long i = 0; i < count; i++)
            require(pread(file, data.data(), piece, i * (off_t)piece) > 0, "read");
        close(file);
    }
    if (readers < ranks)
        MPI_Bcast(data.data(), (int)std::min(64.0 * (1 << 20), option("bytes", 8e6)), MPI_BYTE, 0,
                  MPI_COMM_WORLD);
}

// Search: looks for `items` libraries in `folders` folders each, and then writes particles.
static void search()
{
    int items = (int)option("items"), folders = (int)option("folders", 10);
    for (int i = 0; i < items; i++)
        for (int k = 0; k < folders; k++) {
            std::string path = folder + "/lib" + std::to_string(k) + "/module" + std::to_string(i) + ".so";
            int file = open(path.c_str(), O_RDONLY);
            if (file >= 0)
                close(file);
        }
    particles();
}

// Ledger: each rank writes records to its own file; before each record, it holds for `hold` seconds a lock
// that `sharing` ranks have in common.
static void ledger()
{
    int sharing = (int)option("sharing", 1), file = opened(own("ledger"), O_CREAT | O_WRONLY);
    int lock = opened(folder + "/lock." + std::to_string(rank / sharing), O_CREAT | O_RDWR);
    for (long i = 0; i < (long)option("count", 25); i++) {
        flock(lock, LOCK_EX);
        idle(option("hold"));
        flock(lock, LOCK_UN);
        require(write(file, data.data(), 1 << 20) == 1 << 20, "write");
    }
    close(file);
    close(lock);
}

// Crunch: sums on `workers` threads of each rank.
static void crunch()
{
    std::vector<std::thread> workers;
    auto work = [] {
        volatile double sum = 0;
        for (long i = 1; i < (long)(1e6 * option("millions", 100)); i++)
            sum = sum + 1.0 / (double)i;
    };
    for (int i = 1; i < (int)option("workers", 1); i++)
        workers.emplace_back(work);
    work();
    for (auto &worker : workers)
        worker.join();
}

// Queue: threads take tokens from one queue, and each keeps the queue for `keep` seconds.
static void queue()
{
    std::mutex lock;
    long left = (long)option("count", 120);
    std::vector<std::thread> workers;
    for (int i = 0; i < (int)option("workers", 3); i++)
        workers.emplace_back([&] {
            for (;;) {
                std::lock_guard<std::mutex> held(lock);
                if (left-- <= 0)
                    return;
                idle(option("keep"));
            }
        });
    for (auto &worker : workers)
        worker.join();
}

// Makes the input of the programs that read.
static void make_input()
{
    given["passes"] = given["sync"] = 0;
    int file = opened(own("input"), O_CREAT | O_WRONLY);
    double bytes = option("bytes", 8e6) * (option("part") > 0 && rank == 0 ? ranks : 1);
    for (double done = 0; done < bytes; done += 4 << 20)
        require(write(file, data.data(), 4 << 20) == 4 << 20, "write");
    close(file);
    if (rank)
        return;
    file = opened(folder + "/table", O_CREAT | O_WRONLY);
    for (double done = 0; done < bytes; done += 1 << 20)
        require(write(file, data.data(), 1 << 20) == 1 << 20, "write");
    close(file);
}

static const std::map<std::string, void (*)()> programs = {
    {"particles", particles}, {"tracks", tracks},        {"image", image},   {"field", field},
    {"relay", relay},         {"catalog", catalog},      {"diary", diary},   {"status", status},
    {"table", table},         {"search", search},        {"ledger", ledger}, {"crunch", crunch},
    {"queue", queue},         {"make-input", make_input}};

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count < 3 || !programs.count(words[1]))
        return 2;
    folder = words[2];
    for (int i = 3; i < count; i++) {
        std::string word = words[i];
        size_t equals = word.find('=');
        given[word.substr(0, equals)] = atof(word.substr(equals + 1).c_str());
    }
    idle(option("work"));
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    programs.at(words[1])();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.6f\n", MPI_Wtime() - begin);
    MPI_Finalize();
}
