/* Calls of standard streams. */

static FILE *stream_of(long file)
{
    struct open_file *state = state_of(file);
    if (!state->stream && !(state->stream = fopen(path_of(file), "r+"))) {
        create_quietly(file);
        state->stream = fopen(path_of(file), "r+");
    }
    if (!state->stream)
        fail("fopen %s", path_of(file));
    return state->stream;
}

static void on_stream(enum kind kind, const long *value)
{
    struct open_file *state = state_of(value[FILE_NUMBER]);
    if (kind == STREAM_OPEN && state->stream) {
        fclose(state->stream);
        state->stream = NULL;
    }
    FILE *stream = stream_of(value[FILE_NUMBER]);
    size_t bytes = (size_t)value[LENGTH];
    if (kind == STREAM_WRITE)
        (void)!fwrite(memory, 1, bytes, stream);
    else if (kind == STREAM_READ)
        (void)!fread(memory, 1, bytes, stream);
    else if (kind == STREAM_SEEK)
        fseek(stream, 0, SEEK_SET);
    else if (kind == STREAM_FLUSH)
        fflush(stream);
    else if (kind == FILENO)
        (void)!fileno(stream);
    if (kind == STREAM_CLOSE) {
        fclose(stream);
        state->stream = NULL;
    }
}
