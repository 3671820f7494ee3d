/* The names of the MPI functions that have a wrapper in an adapter for some MPI library, without the prefix
 * MPI_: a list of NAME(name), from the tables of which the adapters make the wrappers. The file that includes
 * this list defines NAME. Some MPI libraries lack some of the functions. */
#define BY_HAND(name)                         NAME(name)
#define MPI_CALL(kind, name, ...)             NAME(name)
#define MPI_CALL_C(kind, name, ...)           NAME(name) NAME(name##_c)
#define MPI4_CALL(...)                        MPI_CALL(__VA_ARGS__)
#define MPI4_CALL_C(...)                      MPI_CALL_C(__VA_ARGS__)
#define MPI41_CALL(...)                       MPI_CALL(__VA_ARGS__)
#define MPI41_CALL_C(...)                     MPI_CALL_C(__VA_ARGS__)
#define SYNCHRONIZING(kind, name, iname, ...) NAME(name) NAME(iname) NAME(name##_init)
#define COLLECTIVE(kind, name, iname, ...)                                                                   \
    SYNCHRONIZING(kind, name, iname) NAME(name##_c) NAME(iname##_c) NAME(name##_init_c)
#include "../mpi_calls.def"

#define CALL(kind, returns, name, ...)   NAME(name)
#define OTHER(which, name, ...)          NAME(name)
#define SPLIT_END(name, ...)             NAME(name)
#define TRANSFER(kind, begin, name, ...) NAME(name) NAME(name##_c)
#include "../mpiio_calls.def"
NAME(Pcontrol)

#undef BY_HAND
#undef MPI_CALL
#undef MPI_CALL_C
#undef MPI4_CALL
#undef MPI4_CALL_C
#undef MPI41_CALL
#undef MPI41_CALL_C
#undef SYNCHRONIZING
#undef COLLECTIVE
#undef CALL
#undef OTHER
#undef SPLIT_END
#undef TRANSFER
