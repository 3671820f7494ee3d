#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "handles.h"
#include "links.h"
#include "traced.h"

/* Hints that the user gives from outside, for files whose name matches a pattern: IOLENS_HINTS. */

/* Calls `tell` for each hint that IOLENS_HINTS gives this path. */
static void given_hints_each(const char *path,
                             void (*tell)(void *context, const char *key, const char *value), void *context)
{
    iolens_given_each(getenv("IOLENS_HINTS"), path, tell, context);
}

/* An MPI_Info that is being built. */
struct making {
    MPI_Info info;
    bool failed;
};

static void add(void *context, const char *key, const char *value)
{
    struct making *making = context;
    if (making->info == mpi.info_null)
        making->failed |= pmpi.Info_create(&making->info) != MPI_SUCCESS;
    if (!making->failed)
        making->failed |= pmpi.Info_set(making->info, key, value) != MPI_SUCCESS;
}

static void notice(void *context, const char *key, const char *value)
{
    (void)key, (void)value;
    *(bool *)context = true;
}

/* Returns the MPI_Info to open `path` with: `info` itself, or a new one in which matching hints replace those
 * of the program. `*made` is set for a new one, which the caller must free. A pattern is a shell wildcard; it
 * may match the whole path or its last part. */
static MPI_Info given_hints(const char *path, MPI_Info info, bool *made)
{
    bool any = false;
    struct making making = {.info = mpi.info_null};
    given_hints_each(path, notice, &any);
    if (!any || (info != mpi.info_null && pmpi.Info_dup(info, &making.info) != MPI_SUCCESS))
        return info;
    given_hints_each(path, add, &making);
    *made = making.info != mpi.info_null && !making.failed;
    if (!*made && making.info != mpi.info_null)
        pmpi.Info_free(&making.info);
    return *made ? making.info : info;
}

/* Finds out which implementation of MPI-IO the library uses. */

#ifdef OPEN_MPI

/* Open MPI loads OMPIO's writing components (fbtl) only after it has chosen OMPIO for a file, whereas
 * choosing always loads ROMIO. If components are built into the library, neither can be detected; then the
 * component is known only if the environment allows just one. */
struct seen {
    bool ompio;
    char romio[32];
};

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct seen *seen = context;
    (void)size;
    const char *romio = strstr(info->dlpi_name, "/mca_io_romio");
    seen->ompio |= strstr(info->dlpi_name, "/mca_fbtl_") != NULL;
    if (romio)
        snprintf(seen->romio, sizeof seen->romio, "%.*s", (int)strcspn(romio + 8, "."), romio + 8);
    return 0;
}

/* Returns the implementation's name; "" if unknown. Called after a file was opened. */
static const char *component_in_use(void)
{
    static struct seen seen;
    const char *allowed = getenv("OMPI_MCA_io");
    dl_iterate_phdr(look, &seen);
    if (!seen.ompio && !*seen.romio && allowed && !strpbrk(allowed, ",^"))
        return allowed;
    return seen.ompio ? "ompio" : seen.romio;
}

#else

/* Returns the implementation of MPI-IO in use: MPICH and its derivatives have only ROMIO. */
const char *component_in_use(void) { return "romio"; }

#endif

/* Reports every key of `info`, as requested by the program or as effective. */
static void report_hints(struct mpi_file file, MPI_Info info, bool requested)
{
    int keys = 0;
    if (!file.root || info == mpi.info_null || pmpi.Info_get_nkeys(info, &keys) != MPI_SUCCESS)
        return;
    for (int i = 0; i < keys; i++) {
        char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
        int found = 0;
        if (pmpi.Info_get_nthkey(info, i, key) == MPI_SUCCESS &&
            pmpi.Info_get(info, key, MPI_MAX_INFO_VAL, value, &found) == MPI_SUCCESS && found)
            iolens_mpiio_hint(file.record, key, requested ? value : NULL, NULL, requested ? NULL : value);
    }
}

/* Returns the path without a driver name, as in "ufs:/path"; a colon after a slash belongs to the file
 * name. */
static const char *without_driver(const char *path)
{
    const char *colon = strchr(path, ':');
    const char *slash = strchr(path, '/');
    return colon && colon > path + 1 && (!slash || colon < slash) ? colon + 1 : path;
}

static void report_given(void *context, const char *key, const char *value)
{
    iolens_mpiio_hint(context, key, NULL, value, NULL);
}

static void together(const struct call *c, struct mpi_file file)
{
    link_file(IOLENS_LINK_COLLECTIVE, file.communicator, file.size, c->name, c->t0, c->t1);
}

MPI_Info before_open(struct call *c, const char *path, MPI_Info info)
{
    c->info = info;
    c->made = given_hints(without_driver(path), info, &c->has_made);
    return c->made;
}

void release(struct call *c) { pmpi.Info_free(&c->made); }

void on_open(const struct call *c, MPI_Comm comm, const char *path, int amode, MPI_File handle)
{
    int rank = 0, size = 1;
    pmpi.Comm_rank(comm, &rank);
    pmpi.Comm_size(comm, &size);
    struct mpi_file file = {
        .record =
            iolens_mpiio_open(without_driver(path), amode, size > 1, c->info != mpi.info_null, c->t0, c->t1),
        .root = rank == 0,
        .size = size,
    };
    const struct comm *of = traced_what & IOLENS_MPI_WHY ? comm_of(comm) : NULL;
    file.communicator = of ? of->id : 0;
    together(c, file);
    if (!file.record)
        return;
    files_add(handle, file);
    iolens_mpiio_component(component_in_use());
    report_hints(file, c->info, true);
    if (file.root && c->has_made)
        given_hints_each(without_driver(path), report_given, file.record);
}

void before_close(struct call *c, MPI_File handle)
{
    c->file = files_find(handle);
    if (!c->file.record)
        return;
    MPI_Info info;
    if (c->file.root && pmpi.File_get_info(handle, &info) == MPI_SUCCESS) {
        report_hints(c->file, info, false);
        if (info != mpi.info_null)
            pmpi.Info_free(&info);
    }
    files_remove(handle);
}

void on_close(const struct call *c)
{
    iolens_mpiio_close(c->file.record, c->t0, c->t1);
    together(c, c->file);
}

void on_view(const struct call *c, MPI_File handle, MPI_Offset displacement, MPI_Datatype filetype,
             MPI_Info info)
{
    MPI_Count bytes = 0;
    files_set_empty(handle, pmpi.Type_size_x(filetype, &bytes) != MPI_SUCCESS || bytes == 0);
    struct mpi_file file = files_find(handle);
    together(c, file);
    iolens_mpiio_view(file.record, info != mpi.info_null, c->t0, c->t1);
    if (iolens_mpiio_traced(file.record))
        views_report(file.record, displacement, filetype, c->t0, c->t1);
    report_hints(file, info, true);
}

void on_info(const struct call *c, MPI_File handle, MPI_Info info)
{
    (void)c;
    report_hints(files_find(handle), info, true);
}

void on_other(const struct call *c, MPI_File handle, enum iolens_mpiio_extra which)
{
    struct mpi_file file = files_find(handle);
    iolens_mpiio_other(file.record, which, c->t0, c->t1);
    if (which == IOLENS_MPIIO_set_sizes || which == IOLENS_MPIIO_preallocates ||
        which == IOLENS_MPIIO_split_ends)
        together(c, file);
}

void on_delete(const struct call *c, const char *path)
{
    iolens_mpiio_other_path(without_driver(path), IOLENS_MPIIO_deletes, c->t0, c->t1);
}

void on_sync(const struct call *c, MPI_File handle)
{
    struct mpi_file file = files_find(handle);
    iolens_mpiio_sync(file.record, c->t0, c->t1);
    together(c, file);
}

static bool is_collective(enum iolens_mpiio_kind kind)
{
    return kind == IOLENS_COLL_READ || kind == IOLENS_COLL_WRITE;
}

/* Notes the offset of a transfer in a traced file before the call. It stays -1 if it cannot be known then:
 * with the shared file pointer, and in a view without any data, because MPI libraries would divide by its
 * size. */
void before_transfer(struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, MPI_Offset place)
{
    struct mpi_file file = files_find(handle);
    c->offset = -1;
    if (is_collective(kind))
        c->access = iolens_mpiio_access(file.record);
    if (place == SHARED_POINTER || file.empty || !iolens_mpiio_traced(file.record))
        return;
    if (place == OWN_POINTER && pmpi.File_get_position(handle, &place) != MPI_SUCCESS)
        return;
    if (place < 0 || pmpi.File_get_byte_offset(handle, place, &c->offset) != MPI_SUCCESS)
        c->offset = -1;
}

MPI_Status *before_status(struct call *c, MPI_Status *status)
{
    c->status = status == MPI_STATUS_IGNORE ? &c->own : status;
    if (c->status == &c->own)
        memset(&c->own, 0xff, sizeof c->own);
    return c->status;
}

static bool is_split(enum iolens_mpiio_kind kind)
{
    return kind == IOLENS_SPLIT_READ || kind == IOLENS_SPLIT_WRITE;
}

void on_transfer(const struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, MPI_Count count,
                 MPI_Datatype type)
{
    struct mpi_file file = files_find(handle);
    int64_t asked = file.record ? asked_bytes(count, type) : -1;
    if (asked >= 0)
        iolens_mpiio_transfer(file.record, kind, c->offset, moved_bytes(c->status, asked), c->t0, c->t1);
    if (is_split(kind))
        files_set_split(handle, kind, asked);
    if (is_collective(kind)) {
        iolens_mpiio_collective(file.record, c->t0, c->t1, c->access);
        together(c, file);
    } else if (is_split(kind)) {
        together(c, file);
    }
}

void on_posted(const struct call *c, MPI_File handle, enum iolens_mpiio_kind kind, int64_t asked,
               MPI_Request request)
{
    struct mpi_file file = files_find(handle);
    bool collective = strstr(c->name, "_all") != NULL;
    int64_t number = collective ? link_file(IOLENS_LINK_POST_COLLECTIVE, file.communicator, file.size,
                                            c->name, c->t0, c->t1)
                                : -1;
    traced_transfer(c->t1, file.record, kind, asked, request, number);
}

void on_split_end(const struct call *c, MPI_File handle)
{
    struct mpi_file file = files_find(handle);
    iolens_mpiio_other(file.record, IOLENS_MPIIO_split_ends, c->t0, c->t1);
    if (file.split_asked >= 0)
        iolens_mpiio_moved(file.record, file.split, file.split_asked,
                           moved_bytes(c->status, file.split_asked));
}
