/* restart_simulator: how MAPL's climate models read a checkpoint. */
#include "config.h"

static const char USAGE[] = "restart_simulator: read, as MAPL does, the checkpoint that checkpoint_simulator "
                            "wrote, and check every value\n"
                            "usage: mpirun -np P restart_simulator [options]      P must be 6 * NX * NY\n\n";

static const char NOTES[] =
    "\nWithout an option that names the problem, ./restart_benchmark.rc is read when it is there (one "
    "trial).\n"
    "Data files: DIR/checkpoint.nc4 or .bin, with --split_file DIR/checkpoint_NNN.* of as many writers.\n"
    "Exit status: 0 good, 1 wrong data or I/O error, 2 bad usage.\n";

#define FIELD(name) offsetof(Config, problem.name)

// clang-format off
static const Option OPTIONS[] = {
    {"config_file", OPTION_TEXT, offsetof(Config, config_file), "FILE", "read this resource file; it overrides the options of\n" "                               the problem"},
    {"nx", OPTION_COUNT, FIELD(nx), "N", "ranks along i on each face of the cubed sphere"},
    {"ny", OPTION_COUNT, FIELD(ny), "N", "ranks along j on each face of the cubed sphere"},
    {"im_world", OPTION_COUNT, FIELD(im_world), "N", "cells along the edge of a face"},
    {"lm", OPTION_COUNT, FIELD(lm), "N", "levels"},
    {"num_readers", OPTION_COUNT, FIELD(io_ranks), "N", "number of ranks that read; a divisor of 6 * NY"},
    {"num_arrays", OPTION_COUNT, FIELD(arrays), "N", "3-D fields of real*4"},
    {"ntrials", OPTION_COUNT, FIELD(trials), "N", "trials [3]"},
    {"split_file", OPTION_FLAG, FIELD(split), NULL, "one file for each reader"},
    {"scatter_3d", OPTION_FLAG, FIELD(whole), NULL, "scatter all levels at once, not one at a time"},
    {"read_barrier", OPTION_FLAG, FIELD(barrier), NULL, "all ranks wait for one another after each scatter"},
    {"static_data", OPTION_FLAG, FIELD(static_data), NULL, "expect the number of the rank, not the random field"},
    {"suppress_reads", OPTION_FLAG, FIELD(no_io), NULL, "open, close and scatter only"},
    {"read_binary", OPTION_FLAG, FIELD(binary), NULL, "files of Fortran's sequential records, not netCDF-4"},
    {"extra_info", OPTION_FLAG, FIELD(extra_info), NULL, "set the hints IBM_largeblock_io=true, striping_unit=4194304"},
    {"directory", OPTION_TEXT, offsetof(Config, directory), "DIR", "where the data files are"},
    {"original_hints", OPTION_FLAG, offsetof(Config, original_hints), NULL, "the original's hints cb_buffer_size=16777216 and\n                               romio_cb_write=enable"},
    {"hints-file", OPTION_TEXT, offsetof(Config, hints_file), "FILE", "MPI-IO hints, one key=value a line"},
    {"hint", OPTION_HINT, offsetof(Config, hints), "KEY=VALUE", "one MPI-IO hint (repeatable; 16M means bytes)"},
    {"collective", OPTION_FLAG, offsetof(Config, collective), NULL, "use collective access to the variables of a shared file"},
    {"make", OPTION_FLAG, offsetof(Config, both), NULL, "write the files first, not timed"},
    {"cold-read", OPTION_FLAG, offsetof(Config, cold), NULL, "have the nodes forget the files before each trial"},
    {"remove", OPTION_FLAG, offsetof(Config, remove), NULL, "remove the data files at the end"},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this", .letter = 'h'},
};

static const Key KEYS[] = {
    {"NX", KEY_COUNT, offsetof(Problem, nx), true},
    {"NY", KEY_COUNT, offsetof(Problem, ny), true},
    {"IM_WORLD", KEY_COUNT, offsetof(Problem, im_world), true},
    {"LM", KEY_COUNT, offsetof(Problem, lm), true},
    {"NUM_READERS", KEY_COUNT, offsetof(Problem, io_ranks), true},
    {"NUM_ARRAYS", KEY_COUNT, offsetof(Problem, arrays), true},
    {"NTRIALS", KEY_COUNT, offsetof(Problem, trials), false},
    {"SPLIT_FILE", KEY_TRUTH, offsetof(Problem, split), false},
    {"SCATTER_3D", KEY_TRUTH, offsetof(Problem, whole), false},
    {"READ_BARRIER", KEY_TRUTH, offsetof(Problem, barrier), false},
    {"DO_READS", KEY_FALSEHOOD, offsetof(Problem, no_io), false},
    {"NETCDF_READS", KEY_FALSEHOOD, offsetof(Problem, binary), false},
    {"RANDOM_DATA", KEY_FALSEHOOD, offsetof(Problem, static_data), false},
    {"EXTRA_INFO", KEY_TRUTH, offsetof(Problem, extra_info), false},
};
// clang-format on

static const OptionTable TABLE = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Program PROGRAM = {"restart_simulator",         true, "restart_benchmark.rc", &TABLE, KEYS,
                                sizeof KEYS / sizeof KEYS[0]};

int main(int argc, char **argv) { return simulate(&PROGRAM, argc, argv); }
