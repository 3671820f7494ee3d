#include "log_name.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../runtime/context.h"

enum { NANO = 1000000000, DAY = 86400, DATE_LEVELS = 3, OWNER_READS = 0400, PERMISSIONS = 0777 };

struct date {
    int year, month, day;
};

/* Of a day count since 1970-01-01 (Howard Hinnant's civil_from_days). The C library's conversion would read
 * the time zone, on which the program may still decide. */
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

void log_name(char name[PATH_BYTES], int64_t start_ns, int n)
{
    if (iolens.settings.logfile) {
        int length = snprintf(name, PATH_BYTES, "%s", iolens.settings.logfile);
        if (iolens.fork_parent && length < PATH_BYTES)
            snprintf(name + length, (size_t)(PATH_BYTES - length), "-%d", (int)iolens.pid);
        return;
    }
    struct date date = civil(start_ns / NANO / DAY);
    char folder[40] = "";
    if (is_dated())
        snprintf(folder, sizeof folder, "/%d/%d/%d", date.year, date.month, date.day);
    snprintf(name, PATH_BYTES, "%s%s/%s_%s_id%lld-%d_%d-%d-%d_%d.darshan", iolens.settings.logpath, folder,
             iolens.identity.user, iolens.identity.program, (long long)iolens.jobid, (int)iolens.pid,
             date.month, date.day, (int)(start_ns / NANO % DAY), n);
}

/* Like the folder above it, whatever the program's umask: a site's tree stays open to all its users. */
static void make_folder(const char *path, const char *above)
{
    struct stat info;
    if (stat(above, &info) == 0 && syscall(SYS_mkdirat, AT_FDCWD, path, 0700) == 0)
        syscall(SYS_fchmodat, AT_FDCWD, path, info.st_mode & 07777);
}

void log_name_folders(const char *name)
{
    char path[PATH_BYTES], above[PATH_BYTES];
    if (!is_dated())
        return;
    size_t end[DATE_LEVELS + 1] = {strlen(name)};
    for (int level = 0; level <= DATE_LEVELS; level++) {
        size_t from = level > 0 ? end[level - 1] : end[0];
        while (from > 0 && name[from - 1] != '/')
            from--;
        end[level] = from > 0 ? from - 1 : 0;
    }
    for (int level = DATE_LEVELS; level > 0; level--) {
        snprintf(above, sizeof above, "%.*s", (int)end[level], name);
        snprintf(path, sizeof path, "%.*s", (int)end[level - 1], name);
        make_folder(path, above);
    }
}

mode_t log_name_mode(void)
{
    char *end;
    long mode = strtol(iolens.settings.log_mode, &end, 8);
    bool usable = *end == '\0' && end != iolens.settings.log_mode && (mode & ~PERMISSIONS) == 0;
    if (!usable)
        iolens_say("IOLENS_LOG_MODE=%s is no octal number of permissions; 0400 is used",
                   iolens.settings.log_mode);
    return usable ? (mode_t)mode : OWNER_READS;
}
