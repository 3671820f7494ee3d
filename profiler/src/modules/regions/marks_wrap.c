/* The functions with which a program marks regions and switches recording off and on: those of iolens.h in
 * ../../include and CrayPAT's, each also under the names that Fortran compilers use. */
#include <stdbool.h>
#include <string.h>

#include "../../files/fds.h"
#include "../../runtime/context.h"
#include "../../runtime/wrap.h"
#include "../../spool/spool.h"
#include "../../tables/process_table.h"
#include "../counters/process_counters.h"
#include "../region_names.h"
#include "../stdio/streams.h"
#include "regions.h"

/* Requests that the program may make of the recorder while it runs. */

/* Switches counting off or on. Open files and their positions are still followed while counting is off, so
 * that later calls are counted for the right file and offset. */
static void control_record(bool on)
{
    if (atomic_load(&iolens.paused) != on)
        return;
    if (on) {
        fds_ask_offsets();
        streams_ask_offsets();
    }
    regions_pause(!on);
    counters_pause(!on);
    atomic_store(&iolens.paused, !on);
    fds_forget_states();
    streams_forget_states();
}

/* Updates the spool, so that the log of a killed process has all records so far. */
static void control_flush(void)
{
    spool_beat();
    tables_beat();
}

enum { PAT_API_FAIL, PAT_API_OK };

enum { PAT_STATE_OFF, PAT_STATE_ON, PAT_STATE_QUERY };

IOLENS_EXPORT void iolens_region_begin(int id, const char *label);
IOLENS_EXPORT void iolens_region_end(int id);

void iolens_region_begin(int id, const char *label)
{
    if (iolens_active())
        RECORDER(region_begin(id, label));
}

void iolens_region_end(int id)
{
    if (iolens_active())
        RECORDER(region_end(id));
}

IOLENS_EXPORT void iolens_record(int state)
{
    if (iolens_active())
        RECORDER(control_record(state != 0));
}

IOLENS_EXPORT void iolens_flush(void)
{
    if (iolens_active())
        RECORDER(control_flush());
}

IOLENS_EXPORT int PAT_region_begin(int id, const char *label);
IOLENS_EXPORT int PAT_region_end(int id);
IOLENS_EXPORT int PAT_record(int state);
IOLENS_EXPORT int PAT_flush_buffer(unsigned long *bytes);

int PAT_region_begin(int id, const char *label)
{
    iolens_region_begin(id, label);
    return PAT_API_OK;
}

int PAT_region_end(int id)
{
    iolens_region_end(id);
    return PAT_API_OK;
}

/* Switches recording off or on; if the caller only asked for the state (PAT_STATE_QUERY), returns whether
 * recording is on. */
int PAT_record(int state)
{
    if (state == PAT_STATE_QUERY)
        return iolens_active() && !iolens_paused() ? PAT_STATE_ON : PAT_STATE_OFF;
    iolens_record(state);
    return PAT_API_OK;
}

int PAT_flush_buffer(unsigned long *bytes)
{
    if (bytes)
        *bytes = 0;
    iolens_flush();
    return PAT_API_OK;
}

/* Copies a Fortran text, which has a length instead of a final NUL and is padded with blanks. */
static int begin_in_fortran(int64_t id, const char *label, size_t length)
{
    char text[REGION_LABEL_BYTES] = "";
    while (length > 0 && label[length - 1] == ' ')
        length--;
    memcpy(text, label, length < sizeof text ? length : sizeof text - 1);
    return PAT_region_begin((int)id, text);
}

/* CrayPAT's pat_apif.h has a name for each kind of integer, and further names for calls without a status;
 * older programs use a single name for all. */
#define FORTRAN(end, number)                                                                                 \
    IOLENS_EXPORT void pat_region_begin##end(const number *id, const char *label, number *status,            \
                                             size_t length);                                                 \
    IOLENS_EXPORT void pat_region_end##end(const number *id, number *status);                                \
    IOLENS_EXPORT void pat_record##end(const int32_t *state, number *status);                                \
    IOLENS_EXPORT void pat_flush_buffer##end(unsigned long *bytes, number *status);                          \
    void pat_region_begin##end(const number *id, const char *label, number *status, size_t length)           \
    {                                                                                                        \
        *status = begin_in_fortran(*id, label, length);                                                      \
    }                                                                                                        \
    void pat_region_end##end(const number *id, number *status) { *status = PAT_region_end((int)*id); }       \
    void pat_record##end(const int32_t *state, number *status) { *status = PAT_record(*state); }             \
    void pat_flush_buffer##end(unsigned long *bytes, number *status) { *status = PAT_flush_buffer(bytes); }

#define FORTRAN_WITHOUT_STATUS(end, number)                                                                  \
    IOLENS_EXPORT void pat_region_begin##end(const number *id, const char *label, size_t length);            \
    IOLENS_EXPORT void pat_region_end##end(const number *id);                                                \
    void pat_region_begin##end(const number *id, const char *label, size_t length)                           \
    {                                                                                                        \
        begin_in_fortran(*id, label, length);                                                                \
    }                                                                                                        \
    void pat_region_end##end(const number *id) { PAT_region_end((int)*id); }

FORTRAN(_, int32_t)
FORTRAN(_i4_, int32_t)
FORTRAN(_i8_, int64_t)
FORTRAN_WITHOUT_STATUS(_i4ns_, int32_t)
FORTRAN_WITHOUT_STATUS(_i8ns_, int64_t)

IOLENS_EXPORT void pat_record_ns_(const int32_t *state);
IOLENS_EXPORT void pat_flush_buffer_ns_(unsigned long *bytes);

void pat_record_ns_(const int32_t *state) { PAT_record(*state); }

void pat_flush_buffer_ns_(unsigned long *bytes) { PAT_flush_buffer(bytes); }
