/* NPB's inputbt.data: steps; dt; nx ny nz; write interval [read interval]; collbuf_nodes collbuf_size. */
#ifndef BTIO_INPUT_H
#define BTIO_INPUT_H

#include "config.h"

/* Values of the input file that rank 0 read, in a form that can be broadcast. */
typedef struct Input {
    int steps, grid[3];
    double dt;
    int write_interval, read_interval; /* Intervals of dumps and of read-backs; 0 if not given. */
    /* Number of nodes and bytes for collective buffering; `has_collbuf` is true if the file has the fifth
     * line. */
    int collbuf[2], has_collbuf;
} Input;

/* Reads the file at `path`, which must exist. Called by one rank. */
Input input_read(const char *path, Trouble *trouble);

#endif
