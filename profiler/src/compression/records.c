#include "records.h"

#include "pack.h"

enum { MANY_BYTES = 1 << 16 };

static bool are_many(size_t row_bytes, size_t bytes)
{
    return bytes >= MANY_BYTES && bytes % sizeof(uint64_t) == 0 && pack_takes(row_bytes);
}

void records_open(struct records *records, size_t row_bytes, size_t expected)
{
    records->row_bytes = row_bytes;
    records->packing = are_many(row_bytes, expected);
    records->bytes = (struct buffer){0};
    if (records->packing)
        pack_open(&records->packer, &records->bytes, row_bytes);
}

void records_put(struct records *records, const void *bytes, size_t count)
{
    if (records->packing)
        pack(&records->packer, bytes, count);
    else
        buffer_put(&records->bytes, bytes, count);
}

bool records_close(struct records *records, struct buffer *out)
{
    struct buffer *bytes = &records->bytes;
    if (records->packing) {
        bool complete = pack_close(&records->packer);
        *out = *bytes;
        return complete;
    }
    bool complete = !bytes->failed;
    if (complete && are_many(records->row_bytes, bytes->used)) {
        pack_open(&records->packer, out, records->row_bytes);
        pack(&records->packer, bytes->data, bytes->used);
        complete = pack_close(&records->packer);
    } else if (complete && bytes->used > 0) {
        complete = pack_bytes(bytes, out);
    }
    buffer_free(bytes);
    return complete;
}
