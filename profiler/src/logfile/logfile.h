/* The log's layout on disk: Darshan 3.41's header and job record, and the footer behind the private regions.
 */
#ifndef IOLENS_LOGFILE_H
#define IOLENS_LOGFILE_H

#include <stdint.h>

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

#endif
