#include "handles.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "core.h"

struct mpi_handles mpi;
struct mpi_calls pmpi;

/* Size of the version text: MPICH writes up to 8192 bytes, Open MPI 256. */
enum { VERSION_BYTES = 16384 };
_Static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= VERSION_BYTES,
               "VERSION_BYTES must have room for the version of any MPI library");
static char library[VERSION_BYTES];

/* `kin` lists words. The version text of every MPI library with this ABI contains one of them, whatever its
 * vendor. */
#if defined(OPEN_MPI)
#define BUILT_FOR "Open MPI"
static const char *const kin[] = {"Open MPI"};
static const char *const library_files[] = {"libmpi.so.40", "libmpi.so"};
#elif defined(MPICH)
#define BUILT_FOR "MPICH"
static const char *const kin[] = {"MPICH", "MVAPICH", "Intel(R) MPI", "ParaStation"};
static const char *const library_files[] = {"libmpi.so.12", "libmpich.so.12", "libmpi.so"};
#else
#define BUILT_FOR "the standard ABI"
static const char *const kin[] = {""};
static const char *const library_files[] = {"libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi_abi.so"};
#endif

/* By this symbol the core knows that an adapter was preloaded. */
__attribute__((visibility("default"))) const char iolens_adapter_name[] = BUILT_FOR;

/* Returns the address of a function or object of the MPI library; NULL if it has none. `first` is RTLD_NEXT
 * for functions, which are wrapped here, and RTLD_DEFAULT for objects, of which the program may hold the only
 * valid copy. The core answers if it loaded this adapter, because it knows which library the program has. */
static void *find(const char *name, void *first)
{
    void *symbol = first == RTLD_NEXT && iolens_mpi_function ? iolens_mpi_function(name) : NULL;
    if (!symbol)
        symbol = dlsym(first, name);
    if (!symbol && iolens_mpi_function)
        symbol = iolens_mpi_function(name);
    for (size_t i = 0; !symbol && i < sizeof library_files / sizeof *library_files; i++) {
        void *loaded = dlopen(library_files[i], RTLD_LAZY | RTLD_NOLOAD);
        if (loaded)
            symbol = dlsym(loaded, name);
    }
    return symbol;
}

void *mpi_symbol(const char *name) { return find(name, RTLD_NEXT); }

static bool load_calls(void)
{
    bool complete = true;
#define CALL(name)                                                                                           \
    pmpi.name = (__typeof__(pmpi.name))mpi_symbol("PMPI_" #name);                                            \
    complete = complete && pmpi.name;
#include "calls.def"
#undef CALL
    return complete;
}

#ifdef OPEN_MPI
/* Returns one of Open MPI's predefined handles, which are addresses of objects. */
static void *object(const char *name) { return find(name, RTLD_DEFAULT); }

static bool load_predefined(void)
{
    mpi = (struct mpi_handles){
        .world = object("ompi_mpi_comm_world"),
        .self = object("ompi_mpi_comm_self"),
        .no_comm = object("ompi_mpi_comm_null"),
        .no_request = object("ompi_request_null"),
        .byte = object("ompi_mpi_byte"),
        .int64 = object("ompi_mpi_int64_t"),
        .uint64 = object("ompi_mpi_uint64_t"),
        .real64 = object("ompi_mpi_double"),
        .min = object("ompi_mpi_op_min"),
        .max = object("ompi_mpi_op_max"),
        .sum = object("ompi_mpi_op_sum"),
        .band = object("ompi_mpi_op_band"),
        .no_op = object("ompi_mpi_op_no_op"),
        .info_null = object("ompi_mpi_info_null"),
    };
    return mpi.world && mpi.self && mpi.no_comm && mpi.no_request && mpi.byte && mpi.int64 && mpi.uint64 &&
           mpi.real64 && mpi.min && mpi.max && mpi.sum && mpi.band && mpi.no_op && mpi.info_null;
}
#else
static bool load_predefined(void)
{
    mpi = (struct mpi_handles){
        .world = MPI_COMM_WORLD,
        .self = MPI_COMM_SELF,
        .no_comm = MPI_COMM_NULL,
        .no_request = MPI_REQUEST_NULL,
        .byte = MPI_BYTE,
        .int64 = MPI_INT64_T,
        .uint64 = MPI_UINT64_T,
        .real64 = MPI_DOUBLE,
        .min = MPI_MIN,
        .max = MPI_MAX,
        .sum = MPI_SUM,
        .band = MPI_BAND,
        .no_op = MPI_NO_OP,
        .info_null = MPI_INFO_NULL,
    };
    return true;
}
#endif

/* Returns true if the loaded MPI library has the standard ABI. A library may come with two ABIs, and gives
 * the same version for both; their files have different names. */
static bool is_standard_abi(void)
{
    Dl_info file;
    return dladdr((void *)pmpi.Get_library_version, &file) && file.dli_fname &&
           strstr(file.dli_fname, "libmpi_abi.");
}

static bool is_kin(void)
{
    for (size_t i = 0; i < sizeof kin / sizeof *kin; i++)
        if (strstr(library, kin[i]))
            return is_standard_abi() == (*kin[i] == '\0');
    return false;
}

static void tell_of_another_library(void)
{
    char sentence[2 * VERSION_BYTES];
    snprintf(sentence, sizeof sentence,
             "this adapter was built for " BUILT_FOR ", but the program runs %s%s, so MPI is not recorded; "
             "preload libiolens.so alone, which finds the adapter",
             *library ? library : "another MPI library", is_standard_abi() ? " with the standard ABI" : "");
    if (iolens_tell)
        iolens_tell(sentence);
}

bool mpi_handles_load(void)
{
    int length = 0;
    if (load_calls() && pmpi.Get_library_version(library, &length) == MPI_SUCCESS) {
        library[strcspn(library, "\r\n")] = '\0';
        if (is_kin() && load_predefined())
            return true;
    }
    if (!iolens_first_rank || iolens_first_rank())
        tell_of_another_library();
    return false;
}

const char *mpi_library(void) { return library; }
