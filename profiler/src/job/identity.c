#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/arena.h"
#include "../system/hash.h"
#include "../system/system_call.h"

/* The environment variables that a log keeps: those that decide how files are accessed and that tell where
 * the job ran. */

/* JSON writes a control character in six bytes, such as \u001f. */
enum { JSON_GROWTH = 6 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

extern char **environ;

/* Variables that decide how files are accessed, and that tell where the job ran. */
static const char *const PREFIXES[] = {"OMPI_MCA_",     "ROMIO_", "MPICH_", "SLURM_",   "IOLENS_",
                                       "DARSHAN_",      "DXT_",   "HDF5_",  "PNETCDF_", "I_MPI_",
                                       "LOADEDMODULES", "PE_ENV", "PBS_",   "FI_",      "UCX_"};
/* Variables with the number of a process and the number of all processes, for launchers without MPI. */
static const char *const RANKS[] = {"RANK",
                                    "LOCAL_RANK",
                                    "GROUP_RANK",
                                    "NODE_RANK",
                                    "WORLD_SIZE",
                                    "OMPI_COMM_WORLD_RANK",
                                    "OMPI_COMM_WORLD_SIZE",
                                    "PMI_RANK",
                                    "PMI_SIZE",
                                    "PMIX_RANK",
                                    "MV2_COMM_WORLD_RANK",
                                    "JSM_NAMESPACE_RANK",
                                    "FLUX_TASK_RANK",
                                    "ALPS_APP_PE"};
/* Variables from the launcher to its own daemons. They are left out, because one of them holds a secret
 * key. */
static const char *const LAUNCHER[] = {"OMPI_MCA_orte_", "OMPI_MCA_ess"};
static const char *const SECRETS[] = {"KEY",        "TOKEN", "SECRET", "PASS",
                                      "CREDENTIAL", "AUTH",  "COOKIE", "JWT"};

static bool begins_with_any(const char *entry, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*entry == *prefixes[i] && strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_rank(const char *entry)
{
    size_t length = strcspn(entry, "=");
    for (size_t i = 0; i < COUNT(RANKS); i++)
        if (*entry == *RANKS[i] && strlen(RANKS[i]) == length && strncmp(entry, RANKS[i], length) == 0)
            return true;
    return false;
}

static bool is_chosen(const char *entry)
{
    size_t length = strcspn(entry, "=");
    if (is_rank(entry))
        return true;
    if (!begins_with_any(entry, PREFIXES, COUNT(PREFIXES)) ||
        begins_with_any(entry, LAUNCHER, COUNT(LAUNCHER)))
        return false;
    for (size_t i = 0; i < COUNT(SECRETS); i++) {
        const char *found = strcasestr(entry, SECRETS[i]);
        if (found && found < entry + length)
            return false;
    }
    return true;
}

/* Writes the chosen variables of this process as a JSON object of at most `limit` bytes; variables that do
 * not fit are left out. */
static void environment_json(struct buffer *out, size_t limit)
{
    const char *comma = "";
    buffer_format(out, "{");
    for (char **entry = environ; entry && *entry; entry++) {
        char name[128];
        size_t length = strcspn(*entry, "=");
        if (!is_chosen(*entry) || length >= sizeof name || out->used + JSON_GROWTH * strlen(*entry) > limit)
            continue;
        memcpy(name, *entry, length);
        name[length] = '\0';
        buffer_format(out, "%s", comma);
        buffer_json(out, name);
        buffer_format(out, ": ");
        buffer_json(out, (*entry)[length] ? *entry + length + 1 : "");
        comma = ", ";
    }
    buffer_format(out, "}");
}

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
