/* Writing one file from all ranks: each rank compresses its own parts, the parts of a region follow one
 * another in rank order, one exclusive scan gives the offsets of all regions, and plain pwrite writes them.
 * The file gets its final name only if all ranks succeeded. */
#ifndef IOLENS_WRITER_H
#define IOLENS_WRITER_H

#include <sys/types.h>

#include "../adapter.h"
#include "../compression/pack.h"
#include "../memory/buffer.h"
#include "../system/path.h"

/* The log's layout on disk: Darshan 3.41's header and job record, and the footer behind the private regions.
 */

enum { LOG_MODULES = 64, LOG_METADATA_BYTES = 1024 };

struct log_span {
    /* Position of the compressed part in the file, and its size; `bytes` is 0 if the part is absent. */
    uint64_t offset, bytes;
};

struct log_header {
    char version[8];
    int64_t magic;
    uint8_t compression; /* Kind of compression; 0 means zlib. */
    uint8_t padding[7];
    uint64_t partial; /* Bit i: module i lacks records. */
    struct log_span names;
    struct log_span modules[LOG_MODULES];
    uint32_t module_versions[LOG_MODULES];
};

_Static_assert(sizeof(struct log_header) == 1328,
               "struct log_header must have the 1328 bytes of Darshan's header");

struct log_job {
    int64_t uid, start_sec, start_nsec, end_sec, end_nsec, ranks, jobid;
    char metadata[LOG_METADATA_BYTES]; /* Lines of key=value; the first key is lib_ver. */
};

_Static_assert(sizeof(struct log_job) == 1080,
               "struct log_job must have the 1080 bytes of Darshan's job record");

struct log_footer {
    char magic[8];
    uint64_t directory_offset, directory_bytes, zero;
};

#define LOG_VERSION      "3.41"
#define LOG_MAGIC        6567223
#define LOG_FOOTER_MAGIC "iolens01"

/* Fills in the numbers; start_ns and end_ns are nanoseconds since 1970. */
void jobinfo_job(struct log_job *job, int ranks, int64_t start_ns, int64_t end_ns);

enum { WRITER_REGIONS = 96 };

/* A region: one complete zlib stream from each rank that has data for it. */
struct region {
    struct buffer part;   /* This rank's part of the region: a zlib stream. */
    struct log_span span; /* Place of all ranks' parts together; known after writer_put_regions. */
};

struct writer {
    const struct iolens_transport *transport;
    int fd;
    int error;       /* errno of this rank's first failure, 0 if none. */
    uint64_t offset; /* End of the regions placed so far; the same on all ranks. */
    bool untrusted;  /* True if a folder of the path is a symbolic link that another user made. */
    bool unnamed;    /* True if the file has no name while it is being written. */
    struct {
        char text[PATH_BYTES]; /* Final name of the log. */
        uint64_t creator;      /* Process number of rank 0, which creates the file. */
        uint64_t inode;        /* Inode of the file that rank 0 created. */
    } name;
    char partial[PATH_BYTES]; /* Name of the file while it is being written. */
    int regions;
    struct region region[WRITER_REGIONS];
};

/* Creates the file on rank 0, for this user alone; does nothing on other ranks. Returns false if a log of
 * that name exists or is being written by another process, unless it is to be replaced; other failures show
 * in writer_close. */
bool writer_create(struct writer *writer, const struct iolens_transport *transport, const char *name,
                   bool replace);

/* Collective. Opens rank 0's file; the first region will begin at `offset`. */
void writer_open(struct writer *writer, const struct iolens_transport *transport, uint64_t offset);

/* Notes that this rank failed, so that the log does not get its final name. The rank must still take part in
 * the collective calls. */
void writer_fail(struct writer *writer, int error);

/* Compresses this rank's part of the next region; an empty part is left out, unless `always` is true. All
 * ranks must add the same regions in the same order. Returns the region's index. */
int writer_add(struct writer *writer, const struct buffer *part, bool always);

/* Adds records as writer_add adds bytes, and frees the records. */
int writer_add_records(struct writer *writer, struct records *records);

/* Collective. Agrees on the places of all regions, and writes this rank's parts of them. */
void writer_put_regions(struct writer *writer, const struct iolens_transport *transport);

/* Sets the error at which the ranks stopped taking part in collective steps; 0 if there was none. */
void writer_in_step(struct writer *writer, int error);

/* Writes bytes uncompressed, on this rank alone. */
void writer_put(struct writer *writer, uint64_t offset, const void *bytes, size_t count);

/* Collective. If all ranks succeeded, gives the file rank 0's permissions and its final name; else removes
 * it, and the first failed rank prints the reason. Returns true if the file exists. */
bool writer_close(struct writer *writer, mode_t mode);

/* The private regions of the log, which follow Darshan's regions and are described in LOG.md, and the
 * directory of these regions. */

/* Collective. Adds the private regions. Returns the index of the first one. */
int private_add(struct writer *writer, const struct iolens_transport *transport);

/* Writes the directory and the footer on rank 0, after all regions have got their places. */
void private_finish(struct writer *writer, int first);

/* Writes the requested name, or <user>_<program>_id<job>-<pid>_<month>-<day>-<seconds>_<n>.darshan, by the
 * UTC time start_ns (since 1970) at which the job began; `n` increases while a log of that name exists. In
 * a tree the name is <user>/<program>/id<job>/<host>/<pid>-<month>-<day>-<seconds>_<n>.darshan. */
void log_name(char name[PATH_BYTES], int64_t start_ns, int n);

/* Makes the missing folders of a log's name. Folders of a date have the permissions of the folder above them;
 * in folders of a tree only the user may write. No folder is made inside one that another user created.
 * Failures show when the log is opened. */
void log_name_folders(const char *name);

/* Returns IOLENS_LOG_MODE as permission bits; 0400 if it is invalid. */
mode_t log_name_mode(void);

#endif
