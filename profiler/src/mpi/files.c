#include "files.h"

#include <stdatomic.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)
#define SLOTS           4096 /* Largest number of open files; must be a power of two. */
#define EMPTY           ((uintptr_t)0)
#define REMOVED         ((uintptr_t)1) /* A slot whose file was closed; searches must continue behind it. */

static struct {
    _Atomic uintptr_t handle;
    struct mpi_file file;
} slots[SLOTS];
static int change; /* A lock for changes of the table; 0 if free. */

static size_t first_slot(uintptr_t handle)
{
    return (size_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % SLOTS;
}

void files_add(MPI_File handle, struct mpi_file file)
{
    static bool said;
    uintptr_t key = (uintptr_t)handle;
    iolens_lock(&change);
    size_t probe = 0, at = first_slot(key);
    for (; probe < SLOTS && slots[at].handle > REMOVED; probe++)
        at = (at + 1) % SLOTS;
    if (probe < SLOTS) {
        slots[at].file = file;
        atomic_store_explicit(&slots[at].handle, key, memory_order_release);
    } else if (!said) {
        said = true;
        iolens_tell("more than " TEXT(
            SLOTS) " MPI files are open at the same time, and further ones are not recorded");
    }
    iolens_unlock(&change);
}

static size_t slot_of(uintptr_t key)
{
    size_t at = first_slot(key);
    for (size_t probe = 0; probe < SLOTS; probe++, at = (at + 1) % SLOTS) {
        uintptr_t here = atomic_load_explicit(&slots[at].handle, memory_order_acquire);
        if (here == key)
            return at;
        if (here == EMPTY)
            break;
    }
    return SLOTS;
}

struct mpi_file files_find(MPI_File handle)
{
    size_t at = slot_of((uintptr_t)handle);
    return at < SLOTS ? slots[at].file : (struct mpi_file){0};
}

void files_set_empty(MPI_File handle, bool empty)
{
    size_t at = slot_of((uintptr_t)handle);
    if (at < SLOTS)
        slots[at].file.empty = empty;
}

void files_set_split(MPI_File handle, enum iolens_mpiio_kind kind, int64_t asked)
{
    size_t at = slot_of((uintptr_t)handle);
    if (at < SLOTS) {
        slots[at].file.split = kind;
        slots[at].file.split_asked = asked;
    }
}

void files_remove(MPI_File handle)
{
    iolens_lock(&change);
    size_t at = slot_of((uintptr_t)handle);
    if (at < SLOTS)
        atomic_store_explicit(&slots[at].handle, REMOVED, memory_order_release);
    iolens_unlock(&change);
}
