#include "reason.h"

#include <stdarg.h>
#include <stdio.h>

enum { MOST_RANGES = 12 };

static size_t add(char *text, size_t size, size_t used, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t size, size_t used, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text + used, size - used, format, list);
    va_end(list);
    used += length > 0 ? (size_t)length : 0;
    return used < size ? used : size - 1;
}

/* Adds a text such as "; nothing is left of ranks 2, 5-7". In a snapshot of a running job the text is "not
 * seen here are ranks …", because these ranks may be on other nodes. */
static size_t add_missing(const struct reason *reason, char *text, size_t size, size_t used)
{
    int next = 0, ranges = 0;
    bool one = reason->ranks - reason->found_count == 1;
    const char *words = !reason->snapshot ? "nothing is left of"
                        : one             ? "not seen here is"
                                          : "not seen here are";
    for (int i = 0; i <= reason->found_count; i++) {
        int found = i < reason->found_count ? reason->found[i] : reason->ranks;
        if (found > next && ranges++ < MOST_RANGES) {
            used = ranges == 1 ? add(text, size, used, "; %s rank%s %d", words, one ? "" : "s", next)
                               : add(text, size, used, ", %d", next);
            if (found - 1 > next)
                used = add(text, size, used, "-%d", found - 1);
        }
        next = found + 1;
    }
    return ranges > MOST_RANGES ? add(text, size, used, " and others") : used;
}

void reason_write(const struct reason *reason, char *text, size_t size)
{
    size_t used = 0;
    const char *what = reason->ranks > 0 ? "job" : "process";
    if (reason->replaced)
        used = add(text, size, used, "The process became another program (exec) without writing its log");
    else if (reason->snapshot)
        used = add(text, size, used, "A snapshot while the %s was running", what);
    else
        used = add(text, size, used, "The %s ended without writing its log", what);
    if (reason->why && !reason->replaced)
        used = add(text, size, used, " (%s)", reason->why);
    used = add(text, size, used, "; this one was made from the records that ");
    if (reason->ranks > 0)
        used = add(text, size, used, "%d of %d ranks kept", reason->found_count, reason->ranks);
    else
        used = add(text, size, used, "it kept");
    if (reason->ranks > 0)
        used = add_missing(reason, text, size, used);
    if (reason->overflowed_count > 0)
        used =
            add(text, size, used,
                "; the spool folder ran out of room for records of %d process(es), so that files used later "
                "are missing: IOLENS_SPOOL names a folder with more room",
                reason->overflowed_count);
    add(text, size, used, ".");
}
