#include "identity.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory/arena.h"
#include "../memory/buffer.h"
#include "command_line.h"
#include "environment.h"
#include "../system/hash.h"
#include "../system/host_name.h"
#include "mounts.h"

static void read_user(struct identity *identity)
{
    if (*user_name())
        snprintf(identity->user, sizeof identity->user, "%s", user_name());
    else
        snprintf(identity->user, sizeof identity->user, "%lld", (long long)identity->uid);
}

#define TEXT(field)                                                                                          \
    {                                                                                                        \
        offsetof(struct identity, field), sizeof(((struct identity *)NULL)->field)                           \
    }

/* The texts in `struct identity` whose length varies and which rarely fill the room reserved for them. */
static const struct {
    size_t offset, size;
} TEXTS[] = {TEXT(command), TEXT(compiler), TEXT(mounts), TEXT(environment)};

enum { TEXT_COUNT = sizeof TEXTS / sizeof *TEXTS, SHORT_BYTES = offsetof(struct identity, command) };

/* Replaces a text, or empties it if there is no room. Pages behind the end of the text are not touched: a new
 * page takes longer to get than the text to write. */
static void put_text(char *text, size_t size, const char *from, size_t bytes)
{
    size_t kept = from && bytes < size ? bytes : 0;
    if (kept > 0)
        memcpy(text, from, kept);
    text[kept] = '\0';
}

static void put_json(char *text, size_t size, struct buffer *json)
{
    put_text(text, size, json->failed ? NULL : json->data, json->used);
    buffer_free(json);
}

/* Reads the variables of now, which include those that the program has set. A program that has given up its
 * environment, to write a title there, keeps those that were read before. */
static void read_environment(struct identity *identity)
{
    struct buffer json = {0};
    if (*identity->environment && !(environ && *environ))
        return;
    environment_json(&json, sizeof identity->environment - 1);
    put_json(identity->environment, sizeof identity->environment, &json);
}

/* Reads the mounts, unless they are all known and the kernel's numbers of the mounts are as before. */
static void read_mounts(struct identity *identity, mount_filter *is_first)
{
    struct buffer table = {0};
    uint64_t ids = mount_ids();
    if (ids && ids == identity->mount_ids)
        return;
    mounts_read(&table);
    bool whole =
        mounts_keep(table.data ? table.data : "", is_first, identity->mounts, sizeof identity->mounts);
    identity->mount_ids = whole ? ids : 0;
    buffer_free(&table);
}

static void clear(struct identity *identity)
{
    memset(identity, 0, SHORT_BYTES);
    for (int i = 0; i < TEXT_COUNT; i++)
        *((char *)identity + TEXTS[i].offset) = '\0';
    memset(&identity->processor, 0, sizeof identity->processor);
    identity->mount_ids = 0;
}

static void copy(struct identity *identity, const struct identity *earlier)
{
    memcpy(identity, earlier, SHORT_BYTES);
    for (int i = 0; i < TEXT_COUNT; i++) {
        const char *from = (const char *)earlier + TEXTS[i].offset;
        put_text((char *)identity + TEXTS[i].offset, TEXTS[i].size, from, strnlen(from, TEXTS[i].size));
    }
    identity->processor = earlier->processor;
    identity->mount_ids = earlier->mount_ids;
}

void identity_read(struct identity *identity, const struct identity *earlier, mount_filter *is_first)
{
    const char *component = getenv("OMPI_MCA_io");
    if (earlier) {
        copy(identity, earlier);
    } else {
        clear(identity);
        identity->uid = (int64_t)getuid();
        host_name(identity->host, sizeof identity->host);
        put_text(identity->compiler, sizeof identity->compiler, compiler_names(), strlen(compiler_names()));
        processor_read(&identity->processor);
    }
    read_user(identity);
    snprintf(identity->program, sizeof identity->program, "%s", program_name());
    put_text(identity->command, sizeof identity->command, command_line(), strlen(command_line()));
    snprintf(identity->io_component, sizeof identity->io_component, "%s", component ? component : "");
    read_mounts(identity, is_first);
    read_environment(identity);
}

static uint64_t mixed(uint64_t hash, const void *bytes, size_t count)
{
    return hash * UINT64_C(0x100000001b3) ^ record_id(bytes, count);
}

uint64_t identity_hash(const struct identity *identity)
{
    uint64_t hash = record_id((const char *)identity, SHORT_BYTES);
    for (int i = 0; i < TEXT_COUNT; i++) {
        const char *text = (const char *)identity + TEXTS[i].offset;
        hash = mixed(hash, text, strnlen(text, TEXTS[i].size));
    }
    hash = mixed(hash, &identity->processor, sizeof identity->processor);
    return mixed(hash, &identity->mount_ids, sizeof identity->mount_ids);
}
