#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "hash.h"
#include "job_region.h"
#include "jobinfo.h"

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
    job_region_environment(&json, sizeof identity->environment - 1);
    if (json.used < sizeof identity->environment)
        memcpy(identity->environment, json.data, json.used);
    buffer_free(&json);
}

void identity_read(struct identity *identity)
{
    const char *component = getenv("OMPI_MCA_io");
    *identity = (struct identity){.uid = (int64_t)getuid()};
    gethostname(identity->host, sizeof identity->host - 1);
    read_user(identity);
    snprintf(identity->program, sizeof identity->program, "%s", program_invocation_short_name);
    snprintf(identity->io_component, sizeof identity->io_component, "%s", component ? component : "");
    identity->text_bytes = jobinfo_text(identity->text);
    read_environment(identity);
}

uint64_t identity_hash(const struct identity *identity)
{
    return record_id((const char *)identity, sizeof *identity);
}
