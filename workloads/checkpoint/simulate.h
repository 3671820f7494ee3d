/* Runs a simulator: reads its options and returns its exit status. */
#ifndef CHECKPOINT_SIMULATE_H
#define CHECKPOINT_SIMULATE_H

#include "config.h"

int simulate(const Program *program, int argc, char **argv);

#endif
