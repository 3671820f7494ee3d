#include <stdio.h>
#include <stdlib.h>

#include "../runtime/context.h"
#include "../system/system_call.h"
#include "writer.h"

enum {
    NANO = 1000000000,
    DAY = 86400,
    DATE_LEVELS = 3,
    TREE_LEVELS = 4,
    OWNER_READS = 0400,
    PERMISSIONS = 0777,
    OTHERS_WRITE = S_IWGRP | S_IWOTH
};

struct date {
    int year, month, day;
};

/* Converts a number of days since 1970-01-01 into a date (Howard Hinnant's civil_from_days). The C
 * library's conversion would read the time zone, which the program may still change. */
static struct date civil(int64_t days)
{
    int64_t shifted = days + 719468, era = shifted / 146097, of_era = shifted % 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100), moon = (5 * of_year + 2) / 153;
    int month = (int)(moon < 10 ? moon + 3 : moon - 9);
    return (struct date){(int)(year + era * 400) + (month <= 2), month,
                         (int)(of_year - (153 * moon + 2) / 5 + 1)};
}

static bool is_dated(void) { return !iolens.settings.logfile && settings_true(iolens.settings.log_by_date); }

/* Returns true if the log goes into a tree of folders. A job with MPI writes one log for all ranks, so it
 * needs no tree. */
static bool is_in_tree(void)
{
    bool has_mpi = iolens.transport && iolens.transport->mpi_version;
    return !iolens.settings.logfile && !has_mpi && settings_true(iolens.settings.log_tree);
}

/* The parts of a log's name that users, programs and hosts chose. */
struct names {
    char user[COMPONENT_BYTES], program[COMPONENT_BYTES], host[COMPONENT_BYTES];
};

static struct names safe_names(void)
{
    const struct identity *identity = &iolens.identity;
    char host[sizeof identity->host];
    struct names names;
    snprintf(host, sizeof host, "%.*s", (int)strcspn(identity->host, "."), identity->host);
    path_component(names.user, identity->user);
    path_component(names.program, identity->program);
    path_component(names.host, host);
    return names;
}

static void flat_name(char *name, size_t room, struct date date, int seconds, int n)
{
    const struct names names = safe_names();
    snprintf(name, room, "/%s_%s_id%lld-%d_%d-%d-%d_%d.darshan", names.user, names.program,
             (long long)iolens.jobid, (int)iolens.pid, date.month, date.day, seconds, n);
}

static void tree_name(char *name, size_t room, struct date date, int seconds, int n)
{
    const struct names names = safe_names();
    snprintf(name, room, "/%s/%s/id%lld/%s/%d-%d-%d-%d_%d.darshan", names.user, names.program,
             (long long)iolens.jobid, names.host, (int)iolens.pid, date.month, date.day, seconds, n);
}

void log_name(char name[PATH_BYTES], int64_t start_ns, int n)
{
    if (iolens.settings.logfile) {
        bool added = iolens.fork_parent || iolens.finalized.ranks > 0;
        int length = snprintf(name, PATH_BYTES, "%s", iolens.settings.logfile);
        if (added && length < PATH_BYTES)
            snprintf(name + length, (size_t)(PATH_BYTES - length), "-%d", (int)iolens.pid);
        return;
    }
    struct date date = civil(start_ns / NANO / DAY);
    int seconds = (int)(start_ns / NANO % DAY),
        used = snprintf(name, PATH_BYTES, "%s", iolens.settings.logpath);
    if (is_dated() && used < PATH_BYTES)
        used +=
            snprintf(name + used, (size_t)(PATH_BYTES - used), "/%d/%d/%d", date.year, date.month, date.day);
    if (used < PATH_BYTES)
        (is_in_tree() ? tree_name : flat_name)(name + used, (size_t)(PATH_BYTES - used), date, seconds, n);
}

/* Makes a folder with the permissions of the folder above it, whatever the program's umask, so that a
 * site's tree stays open to all its users. Below a user's own folder only that user may write. */
static void make_folder(const char *path, const char *above, bool own)
{
    struct stat info;
    if (file_info(above, &info) == 0 && system_call(SYS_mkdirat, AT_FDCWD, path, 0700) == 0)
        system_call(SYS_fchmodat, AT_FDCWD, path, info.st_mode & 07777 & (own ? ~OTHERS_WRITE : ~0));
}

void log_name_folders(const char *name)
{
    char path[PATH_BYTES], above[PATH_BYTES];
    int own = is_in_tree() ? TREE_LEVELS : 0, levels = own + (is_dated() ? DATE_LEVELS : 0);
    size_t end[TREE_LEVELS + DATE_LEVELS + 1] = {strlen(name)};
    if (levels == 0 || path_is_untrusted(name))
        return;
    for (int level = 0; level <= levels; level++) {
        size_t from = level > 0 ? end[level - 1] : end[0];
        while (from > 0 && name[from - 1] != '/')
            from--;
        end[level] = from > 0 ? from - 1 : 0;
    }
    for (int level = levels; level > 0; level--) {
        snprintf(above, sizeof above, "%.*s", (int)end[level], name);
        snprintf(path, sizeof path, "%.*s", (int)end[level - 1], name);
        make_folder(path, above, level <= own);
    }
}

mode_t log_name_mode(void)
{
    char *end;
    long mode = strtol(iolens.settings.log_mode, &end, 8);
    bool usable = *end == '\0' && end != iolens.settings.log_mode && (mode & ~PERMISSIONS) == 0;
    if (!usable)
        iolens_say("IOLENS_LOG_MODE=%s is not an octal number of permissions, so the default 0400 is used",
                   iolens.settings.log_mode);
    return usable ? (mode_t)mode : OWNER_READS;
}
