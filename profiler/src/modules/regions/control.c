#include "control.h"

#include "../../files/fds.h"
#include "../../runtime/context.h"
#include "../../spool/spool.h"
#include "../../tables/process_table.h"
#include "../counters/process_counters.h"
#include "regions.h"
#include "../stdio/streams.h"

void control_record(bool on)
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

void control_flush(void)
{
    spool_beat();
    tables_beat();
}
