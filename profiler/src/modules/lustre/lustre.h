/* The LUSTRE module: the layout of a file, from its "lustre.lov" extended attribute, and the bytes that
 * each of its stripes has moved. The emulated storage provides this attribute too, so that the same code
 * serves both. */
#ifndef IOLENS_LUSTRE_H
#define IOLENS_LUSTRE_H

#include <stdbool.h>
#include <stdint.h>

struct file;
struct lustre_state;

/* Returns the stripe size of the file's first component in bytes, 0 when the file has no layout. */
int64_t lustre_on_open(struct file *file, int fd);

/* Reads the layout again before the descriptor is closed, because a composite layout gains components while
 * the file grows. */
void lustre_on_close(struct file *file, int fd);

/* Counts a transfer through `fd` (-1 if unknown) in the file that has this state. */
void lustre_on_transfer(struct lustre_state *state, int fd, bool writing, int64_t offset, int64_t bytes);

/* The counts of a node's Lustre client from the job's start to its end: the files `stats` of its file
 * systems (llite: calls of programs) and targets (osc: requests to servers). They include all programs of
 * the node. One rank per node reads them; without Lustre there is nothing to read. */

enum { LUSTRE_LAYER_BYTES = 8, LUSTRE_DEVICE_BYTES = 64, LUSTRE_COUNTER_BYTES = 32, LUSTRE_UNIT_BYTES = 8 };

/* One line of a `stats` file: name, number of samples, unit and, if present, the sum of the samples. */
struct lustre_counter {
    char layer[LUSTRE_LAYER_BYTES], device[LUSTRE_DEVICE_BYTES];
    char name[LUSTRE_COUNTER_BYTES], unit[LUSTRE_UNIT_BYTES];
    int64_t samples, sum;
};

/* Reads the counters for the first time, if this process is the one that reads them for its node. */
void lustre_client_begin(void);

/* Reads one line; returns false if it is no counter, such as a time stamp. */
bool lustre_client_line(const char *line, struct lustre_counter *counter);

#endif
