#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../system/processor.h"
#include "../../system/say.h"
#include "../../system/system_call.h"
#include "counts.h"

enum {
    TYPE_NONE = PERF_NONE,
    TYPE_HARDWARE = PERF_TYPE_HARDWARE,
    TYPE_HW_CACHE = PERF_TYPE_HW_CACHE,
    WORD_BYTES = 64,
    LINE_BYTES = 512
};

#define CACHE(cache, operation, result)                                                                      \
    (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 |                                 \
     PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct event {
    const char *name, *unit;
    int type;
    uint64_t code;
} EVENT_ROWS[EVENTS] = {
#define EVENT(name, type, code, unit) {#name, unit, TYPE_##type, code},
#define CODE(name, vendor, family, code, source)
#include "counter_events.def"
#undef EVENT
#undef CODE
};

static const struct code {
    enum counter_event event;
    const char *vendor;
    unsigned family;
    uint64_t code;
} CODES[] = {
#define EVENT(name, type, code, unit)
#define CODE(name, vendor, family, code, source) {EVENT_##name, vendor, family, code},
#include "counter_events.def"
#undef EVENT
#undef CODE
};

static const struct group {
    int number;
    const char *name, *about, *events;
} GROUPS[] = {
#define GROUP(number, name, about, events) {number, name, about, events},
#include "counter_groups.def"
#undef GROUP
};

enum { GROUP_COUNT = sizeof GROUPS / sizeof *GROUPS };

const char *event_name(enum counter_event event) { return EVENT_ROWS[event].name; }

int event_source(enum counter_event event, uint64_t *code)
{
    struct processor here;
    *code = EVENT_ROWS[event].code;
    if (EVENT_ROWS[event].type != TYPE_NONE)
        return EVENT_ROWS[event].type;
    processor_read(&here);
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
        if (CODES[i].event == event && strcmp(CODES[i].vendor, here.vendor) == 0 &&
            here.family >= CODES[i].family) {
            *code = CODES[i].code;
            return PERF_TYPE_RAW;
        }
    return TYPE_NONE;
}

static const struct group *group_of(const char *word)
{
    char *end;
    long number = strtol(word, &end, 10);
    for (int i = 0; i < GROUP_COUNT; i++)
        if ((*word && *end == '\0' && GROUPS[i].number == number) || strcasecmp(GROUPS[i].name, word) == 0)
            return &GROUPS[i];
    return NULL;
}

/* Returns false if no event has this name. */
static bool add_event(struct event_choice *choice, const char *name)
{
    for (int event = 0; event < EVENTS; event++) {
        if (strcasecmp(EVENT_ROWS[event].name, name) != 0)
            continue;
        for (size_t i = 0; i < choice->count; i++)
            if (choice->event[i] == (enum counter_event)event)
                return true;
        if (choice->count < EVENTS_MOST)
            choice->event[choice->count++] = (enum counter_event)event;
        else
            iolens_say("IOLENS_HWPC: the event %s is one too many, since at most %d events can be counted in "
                       "one run",
                       name, EVENTS_MOST);
        return true;
    }
    return false;
}

/* Returns the next word of a text and moves behind it; NULL at the end. */
static const char *next_word(const char *text, const char *between, char word[WORD_BYTES])
{
    text += strspn(text, between);
    size_t length = strcspn(text, between);
    if (length == 0)
        return NULL;
    snprintf(word, WORD_BYTES, "%.*s", (int)length, text);
    return text + length;
}

struct event_choice events_choose(const char *text)
{
    struct event_choice choice = {0};
    char word[WORD_BYTES], name[WORD_BYTES];
    while ((text = next_word(text, ", ", word))) {
        const struct group *group = group_of(word);
        if (strcmp(word, "none") == 0)
            continue;
        choice.wanted = true;
        for (const char *rest = group ? group->events : NULL; rest && (rest = next_word(rest, " ", name));)
            add_event(&choice, name);
        if (!group && !add_event(&choice, word))
            iolens_say("IOLENS_HWPC: %s is neither a group (0 to %d, or a name) nor an event; `iolens run "
                       "--list-hwpc` lists both",
                       word, GROUPS[GROUP_COUNT - 1].number);
    }
    return choice;
}

/* Writes to standard output by the system call, because the C library's functions for it are wrapped. */
__attribute__((format(printf, 1, 2))) static void print_line(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list list;
    va_start(list, format);
    int bytes = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (bytes > 0)
        system_call(SYS_write, STDOUT_FILENO, line,
                    bytes < (int)sizeof line ? (size_t)bytes : sizeof line - 1);
}

void events_print(void)
{
    char reason[PERF_REASON_BYTES], name[WORD_BYTES];
    for (int i = 0; i < GROUP_COUNT; i++) {
        print_line("%2d  %-13s %s\n", GROUPS[i].number, GROUPS[i].name, GROUPS[i].about);
        for (const char *rest = GROUPS[i].events; (rest = next_word(rest, " ", name));) {
            struct event_choice one = {0};
            struct perf_counter counter;
            uint64_t code;
            add_event(&one, name);
            int type = event_source(one.event[0], &code);
            bool works = perf_open(&counter, type, code, false, false, reason);
            print_line("      %-26s %s\n", name, works ? "works here" : reason);
            perf_close(&counter);
        }
    }
}
