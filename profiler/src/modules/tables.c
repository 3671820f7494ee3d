#include "../tables/process_table.h"

#define TABLE(name) extern const struct process_table table_##name;
#include "../tables.def"
#undef TABLE

const struct process_table *const process_tables[TABLE_COUNT] = {
#define TABLE(name) &table_##name,
#include "../tables.def"
#undef TABLE
};
