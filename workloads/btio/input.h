/* NPB's inputbt.data: steps; dt; nx ny nz; write interval [read interval]; collbuf_nodes collbuf_size. */
#ifndef BTIO_INPUT_H
#define BTIO_INPUT_H

#include "config.h"

/* The values that rank 0 found, in a layout for a broadcast. */
typedef struct Input {
    int steps, grid[3];
    double dt;
    int write_interval, read_interval; /* 0: not given */
    int collbuf[2], has_collbuf;       /* nodes and bytes, when the fifth line is there */
} Input;

/* Reads the file at `path`, which must exist. Called by one rank. */
Input input_read(const char *path, Trouble *trouble);

#endif
