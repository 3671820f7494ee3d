/* Calls of MPI-IO. */

static MPI_Info info_of(long file)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].key && file >= hints[i].first_file && file < hints[i].first_file + hints[i].files)
            MPI_Info_set(info, (char *)hints[i].key, (char *)hints[i].value);
    return info;
}

/* Returns the newest handle on a file; for `together`, the newest that several ranks opened, if there is one.
 */
static struct handle *handle_of(struct open_file *state, bool together)
{
    int newest = state->handles_open - 1;
    if (newest < 0)
        check(MPI_ERR_FILE, "a call on a file that is not open");
    for (int i = newest; together && i >= 0; i--)
        if (!state->handles[i].alone)
            return &state->handles[i];
    return &state->handles[newest];
}

static void mpi_open(const long *value)
{
    const struct opening *opening = &openings[value[DETAIL]];
    struct open_file *state = state_of(value[FILE_NUMBER]);
    MPI_Info info = opening->hints ? info_of(value[FILE_NUMBER]) : MPI_INFO_NULL;
    MPI_Comm comm = communicators[opening->communicator];
    int mode = opening->mode, code;
    char *path = (char *)path_of(value[FILE_NUMBER]);
    struct handle *handle = &state->handles[state->handles_open];
    int ranks;
    if (state->handles_open == MOST_OPEN)
        check(MPI_ERR_FILE, "too many handles on a file");
    MPI_Comm_size(comm, &ranks);
    code = MPI_File_open(comm, path, mode, info, &handle->file);
    if (code != MPI_SUCCESS && mode & MPI_MODE_EXCL)
        code = MPI_File_open(comm, path, mode & ~MPI_MODE_EXCL, info, &handle->file);
    check(code, "MPI_File_open");
    handle->alone = ranks < 2;
    handle->has_pieces = false;
    state->handles_open++;
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

/* Makes a type of `count` pieces whose begins are `stride` bytes apart. */
static void repeat(MPI_Datatype *type, long count, long stride)
{
    MPI_Datatype inner = *type;
    if (count == 1)
        return;
    MPI_Type_create_hvector((int)count, 1, stride, inner, type);
    MPI_Type_free(&inner);
}

static long padded(long bytes) { return (bytes + 7) / 8 * 8; }

/* Returns a type with the pieces of a view: either at their places in the file, or one after the other in
 * memory and each of them aligned. */
static MPI_Datatype pieces_of(const struct view *view, bool in_memory)
{
    int ones[VIEW_ROWS];
    MPI_Datatype types[VIEW_ROWS], all, sized;
    MPI_Aint places[VIEW_ROWS], end = 0;
    for (int i = 0; i < view->rows; i++) {
        const struct pieces *p = &pieces[view->first + i];
        long first = padded(p->length), second = first * p->count1, third = second * p->count2;
        MPI_Type_contiguous((int)p->length, MPI_BYTE, &types[i]);
        repeat(&types[i], p->count1, in_memory ? first : p->stride1);
        repeat(&types[i], p->count2, in_memory ? second : p->stride2);
        repeat(&types[i], p->count3, in_memory ? third : p->stride3);
        places[i] = in_memory ? end : p->offset;
        end += third * p->count3;
        ones[i] = 1;
    }
    MPI_Type_create_struct(view->rows, ones, places, types, &all);
    MPI_Type_create_resized(all, 0, in_memory ? end : view->extent, &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&all);
    for (int i = 0; i < view->rows; i++)
        MPI_Type_free(&types[i]);
    return sized;
}

static void forget_pieces(struct handle *handle)
{
    if (handle->has_pieces)
        MPI_Type_free(&handle->pieces);
    handle->has_pieces = false;
}

static void mpi_view(const long *value)
{
    const struct view *view = &views[value[DETAIL]];
    struct handle *handle = handle_of(state_of(value[FILE_NUMBER]), value[LENGTH] > 0);
    MPI_Datatype type = pieces_of(view, false);
    MPI_Info info = value[OFFSET] ? info_of(value[FILE_NUMBER]) : MPI_INFO_NULL;
    check(MPI_File_set_view(handle->file, view->displacement, MPI_BYTE, type, "native", info),
          "MPI_File_set_view");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    MPI_Type_free(&type);
    forget_pieces(handle);
    handle->has_pieces = facts_of(value[FILE_NUMBER])->aligned;
    if (handle->has_pieces)
        handle->pieces = pieces_of(view, true);
}

static bool is_together(enum kind kind)
{
    return kind == MPI_WRITE_ALL || kind == MPI_READ_ALL || kind == MPI_WRITE_SPLIT || kind == MPI_READ_SPLIT;
}

static void mpi_move(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    struct handle *handle = handle_of(state, is_together(kind));
    MPI_File file = handle->file;
    MPI_Offset at = value[OFFSET];
    MPI_Datatype type = MPI_BYTE;
    int count = (int)value[LENGTH], bytes = 0, code = MPI_SUCCESS;
    if (handle->has_pieces)
        MPI_Type_size(handle->pieces, &bytes);
    if (count > 0 && at == 0 && bytes == count) {
        type = handle->pieces;
        count = 1;
    }
    switch (kind) {
    case MPI_WRITE:
        code = MPI_File_write_at(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_READ:
        code = MPI_File_read_at(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_WRITE_ALL:
        code = MPI_File_write_at_all(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_READ_ALL:
        code = MPI_File_read_at_all(file, at, memory, count, type, MPI_STATUS_IGNORE);
        break;
    case MPI_WRITE_SPLIT:
        code = MPI_File_write_at_all_begin(file, at, memory, count, type);
        check(MPI_File_write_at_all_end(file, memory, MPI_STATUS_IGNORE), "MPI_File_write_at_all_end");
        break;
    case MPI_READ_SPLIT:
        code = MPI_File_read_at_all_begin(file, at, memory, count, type);
        check(MPI_File_read_at_all_end(file, memory, MPI_STATUS_IGNORE), "MPI_File_read_at_all_end");
        break;
    default:
        MPI_Wait(&state->later, MPI_STATUS_IGNORE);
        code = kind == MPI_WRITE_LATER ? MPI_File_iwrite_at(file, at, memory, count, type, &state->later)
                                       : MPI_File_iread_at(file, at, memory, count, type, &state->later);
    }
    check(code, "a transfer of MPI-IO");
}

static void mpi_other(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    struct handle *handle = handle_of(state, false);
    MPI_Offset size = 0;
    switch (kind) {
    case MPI_CLOSE:
        MPI_Wait(&state->later, MPI_STATUS_IGNORE);
        check(MPI_File_close(&handle->file), "MPI_File_close");
        forget_pieces(handle);
        state->handles_open--;
        break;
    case MPI_SYNC:
        MPI_Wait(&state->later, MPI_STATUS_IGNORE);
        check(MPI_File_sync(handle->file), "MPI_File_sync");
        break;
    case MPI_GET_SIZE:
        check(MPI_File_get_size(handle->file, &size), "MPI_File_get_size");
        break;
    default:
        check(MPI_File_set_size(handle->file, value[LENGTH]), "MPI_File_set_size");
    }
}
