#include "../files/fds.h"
#include "../files/names.h"
#include "../tables/process_table.h"
#include "lifecycle.h"

void recording_start(void)
{
    for (int m = 0; m < MODULE_COUNT; m++)
        if (modules[m]->start)
            modules[m]->start();
    tables_start();
}

void recording_reset(void)
{
    registry_reset();
    names_reset();
    fds_reset();
    for (int m = 0; m < MODULE_COUNT; m++)
        if (modules[m]->reset)
            modules[m]->reset();
    tables_reset();
}

static uint64_t mixed(uint64_t layout, uint64_t number)
{
    return (layout ^ number) * UINT64_C(0x100000001b3);
}

uint64_t recording_layout(void)
{
    uint64_t layout = UINT64_C(0xcbf29ce484222325);
    const uint64_t sizes[] = {sizeof(struct spool_header), sizeof(struct file), MODULE_COUNT, TABLE_COUNT};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        layout = mixed(layout, sizes[i]);
    for (int m = 0; m < MODULE_COUNT; m++)
        layout = mixed(layout, modules[m]->state_bytes);
    for (int t = 0; t < TABLE_COUNT; t++)
        layout = mixed(mixed(layout, process_tables[t]->recording.state_bytes),
                       process_tables[t]->recording.file_bytes);
    for (const char *c = IOLENS_VERSION; *c; c++)
        layout = mixed(layout, (uint64_t)*c);
    return layout;
}
