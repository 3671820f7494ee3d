/* NPB's inputbt.data: steps; dt; nx ny nz; write interval [read interval]; collbuf_nodes collbuf_size. */
#ifndef BTIO_INPUT_H
#define BTIO_INPUT_H

#include "config.h"

/* Values that rank 0 read, in the form of a broadcast. */
typedef struct Input {
    int steps, grid[3];
    double dt;
    int write_interval, read_interval; /* Intervals of dumps and of read-backs; 0 if not given. */
    int collbuf[2], has_collbuf;       /* Number of nodes and bytes, if the file has a fifth line. */
} Input;

/* Reads the file at `path`, which must exist. Called by one rank. */
Input input_read(const char *path, Trouble *trouble);

#endif
