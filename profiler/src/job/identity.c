#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory/arena.h"
#include "../memory/buffer.h"
#include "command.h"
#include "compiler.h"
#include "environment.h"
#include "../system/hash.h"
#include "../system/host_name.h"
#include "mount_options.h"
#include "../system/slurp.h"

enum { TABLE_BYTES = 65536 };

static void read_user(struct identity *identity)
{
    const char *name = getenv("LOGNAME");
    name = name && *name ? name : getenv("USER");
    if (name && *name && !strchr(name, '/'))
        snprintf(identity->user, sizeof identity->user, "%s", name);
    else
        snprintf(identity->user, sizeof identity->user, "%lld", (long long)identity->uid);
}

static void read_environment(struct identity *identity)
{
    struct buffer json = {0};
    memset(identity->environment, 0, sizeof identity->environment);
    environment_json(&json, sizeof identity->environment - 1);
    if (json.used < sizeof identity->environment)
        memcpy(identity->environment, json.data, json.used);
    buffer_free(&json);
}

/* Fills in command line and mounts. */
static void fill_mounts(struct identity *identity, const char *table, const char *extra)
{
    struct buffer json = {0};
    memset(identity->mounts, 0, sizeof identity->mounts);
    memset(identity->text, 0, sizeof identity->text);
    identity->text_bytes = command_text(identity->text, table, extra);
    mount_options(&json, table, sizeof identity->mounts - 1);
    if (json.used < sizeof identity->mounts && !json.failed)
        memcpy(identity->mounts, json.data, json.used);
    buffer_free(&json);
}

/* Reads command line and mounts, with a single look at the mounts; does nothing if these are as before. */
static void read_mounts(struct identity *identity, const char *extra)
{
    struct buffer table = {0};
    char *text = buffer_add(&table, TABLE_BYTES);
    size_t bytes = text ? slurp("/proc/self/mounts", text, TABLE_BYTES) : 0;
    uint64_t checksum = record_id(text, bytes);
    if (checksum != identity->mount_table)
        fill_mounts(identity, text ? text : "", extra);
    identity->mount_table = checksum;
    buffer_free(&table);
}

void identity_read(struct identity *identity, const struct identity *earlier, const char *mounts)
{
    const char *component = getenv("OMPI_MCA_io");
    if (earlier) {
        *identity = *earlier;
    } else {
        *identity = (struct identity){.uid = (int64_t)getuid()};
        host_name(identity->host, sizeof identity->host);
        compiler_read("/proc/self/exe", identity->compiler, sizeof identity->compiler);
        processor_read(&identity->processor);
    }
    read_user(identity);
    snprintf(identity->program, sizeof identity->program, "%s", program_invocation_short_name);
    snprintf(identity->io_component, sizeof identity->io_component, "%s", component ? component : "");
    read_mounts(identity, mounts);
    read_environment(identity);
}

uint64_t identity_hash(const struct identity *identity)
{
    return record_id((const char *)identity, sizeof *identity);
}
