/* checkpoint_simulator: how MAPL's climate models write a checkpoint. */
#include "config.h"

static const char USAGE[] =
    "checkpoint_simulator: write a checkpoint of 3-D fields on a cubed sphere as MAPL does\n"
    "usage: mpirun -np P checkpoint_simulator [options]      P must be 6 * NX * NY\n\n";

static const char NOTES[] = "\nWithout an option that names the problem, ./checkpoint_benchmark.rc is read "
                            "when it is there (one trial).\n"
                            "Modes raw_bw, gatherv and combo take --nx (here the edge of a face), --n_levs, "
                            "--n_writers, --n_tries [1]\n"
                            "and --file_type, and any number of ranks.\n"
                            "Data files: DIR/checkpoint.nc4 or .bin, with --split_file DIR/checkpoint_NNN.*; "
                            "they stay unless --remove.\n"
                            "Exit status: 0 good, 1 wrong data or I/O error, 2 bad usage.\n";

#define FIELD(name) offsetof(Config, problem.name)

// clang-format off
static const Option OPTIONS[] = {
    {"config_file", OPTION_TEXT, offsetof(Config, config_file), "FILE", "read this resource file; it overrides the options of\n" "                               the problem"},
    {"nx", OPTION_COUNT, FIELD(nx), "N", "ranks along i on each face of the cubed sphere"},
    {"ny", OPTION_COUNT, FIELD(ny), "N", "ranks along j on each face of the cubed sphere"},
    {"im_world", OPTION_COUNT, FIELD(im_world), "N", "cells along the edge of a face"},
    {"lm", OPTION_COUNT, FIELD(lm), "N", "levels", .also = "n_levs"},
    {"num_writers", OPTION_COUNT, FIELD(io_ranks), "N", "number of ranks that write; a divisor of 6 * NY", .also = "n_writers"},
    {"num_arrays", OPTION_COUNT, FIELD(arrays), "N", "3-D fields of real*4"},
    {"ntrials", OPTION_COUNT, FIELD(trials), "N", "trials [3]", .also = "n_tries"},
    {"split_file", OPTION_FLAG, FIELD(split), NULL, "one file for each writer"},
    {"gather_3d", OPTION_FLAG, FIELD(whole), NULL, "gather all levels at once, not one at a time"},
    {"write_barrier", OPTION_FLAG, FIELD(barrier), NULL, "all ranks wait for one another before each write"},
    {"static_data", OPTION_FLAG, FIELD(static_data), NULL, "write the number of the rank, not a random field"},
    {"suppress_writes", OPTION_FLAG, FIELD(no_io), NULL, "gather only"},
    {"write_binary", OPTION_FLAG, FIELD(binary), NULL, "files of Fortran's sequential records, not netCDF-4"},
    {"no_chunking", OPTION_FLAG, FIELD(no_chunking), NULL, "contiguous variables"},
    {"extra_info", OPTION_FLAG, FIELD(extra_info), NULL, "set the hints IBM_largeblock_io=true, striping_unit=4194304"},
    {"mode", OPTION_TEXT, offsetof(Config, mode), "NAME", "raw_bw, gatherv or combo: writing and gathering alone"},
    {"file_type", OPTION_TEXT, offsetof(Config, file_type), "TYPE", "binary or netcdf, for --mode raw_bw and combo"},
    {"directory", OPTION_TEXT, offsetof(Config, directory), "DIR", "where the data files go"},
    {"original_hints", OPTION_FLAG, offsetof(Config, original_hints), NULL, "the original's hints cb_buffer_size=16777216 and\n                               romio_cb_write=enable, by which ROMIO may write\n                               the file twice"},
    {"hints-file", OPTION_TEXT, offsetof(Config, hints_file), "FILE", "MPI-IO hints, one key=value a line"},
    {"hint", OPTION_HINT, offsetof(Config, hints), "KEY=VALUE", "one MPI-IO hint (repeatable; 16M means bytes)"},
    {"collective", OPTION_FLAG, offsetof(Config, collective), NULL, "use collective access to the variables of a shared file"},
    {"check", OPTION_FLAG, offsetof(Config, both), NULL, "read back and compare every value, not timed"},
    {"remove", OPTION_FLAG, offsetof(Config, remove), NULL, "remove the data files at the end"},
    {"json", OPTION_TEXT, offsetof(Config, json), "FILE", "write the result as JSON (-: to standard output)"},
    {"help", OPTION_FLAG, offsetof(Config, help), NULL, "print this", .letter = 'h'},
};

static const Key KEYS[] = {
    {"NX", KEY_COUNT, offsetof(Problem, nx), true},
    {"NY", KEY_COUNT, offsetof(Problem, ny), true},
    {"IM_WORLD", KEY_COUNT, offsetof(Problem, im_world), true},
    {"LM", KEY_COUNT, offsetof(Problem, lm), true},
    {"NUM_WRITERS", KEY_COUNT, offsetof(Problem, io_ranks), true},
    {"NUM_ARRAYS", KEY_COUNT, offsetof(Problem, arrays), true},
    {"NTRIALS", KEY_COUNT, offsetof(Problem, trials), false},
    {"SPLIT_FILE", KEY_TRUTH, offsetof(Problem, split), false},
    {"GATHER_3D", KEY_TRUTH, offsetof(Problem, whole), false},
    {"WRITE_BARRIER", KEY_TRUTH, offsetof(Problem, barrier), false},
    {"DO_WRITES", KEY_FALSEHOOD, offsetof(Problem, no_io), false},
    {"NETCDF_WRITES", KEY_FALSEHOOD, offsetof(Problem, binary), false},
    {"RANDOM_DATA", KEY_FALSEHOOD, offsetof(Problem, static_data), false},
    {"CHUNK", KEY_FALSEHOOD, offsetof(Problem, no_chunking), false},
    {"EXTRA_INFO", KEY_TRUTH, offsetof(Problem, extra_info), false},
};
// clang-format on

static const OptionTable TABLE = {OPTIONS, sizeof OPTIONS / sizeof OPTIONS[0], USAGE, NOTES};

static const Program PROGRAM = {"checkpoint_simulator",      false, "checkpoint_benchmark.rc", &TABLE, KEYS,
                                sizeof KEYS / sizeof KEYS[0]};

int main(int argc, char **argv) { return simulate(&PROGRAM, argc, argv); }
