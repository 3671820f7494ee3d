#include "describe.h"

#include <stdio.h>

#include "../tables/process_table.h"

static const char INTRODUCTION[] = "# The tables that the profiler adds to a Darshan log (private regions)\n"
                                   "\n"
                                   "Printed by `iolens-recover tables` from the rows in `src/tables.def`; "
                                   "[LOG.md](LOG.md) has the format. *Merged* is\n"
                                   "what a row of rank -1 holds, which stands for several ranks. *Names* are "
                                   "replaced when a log is anonymized, *words*\n"
                                   "stay.\n";

static void describe_column(const struct column *column)
{
    const char *merge = column_merge_name(column->merge), *text = column_text_name(column->text);
    printf("| `%s` | `%s` | %s%s%s | %s | %s |\n", column->name, column->dtype, column->unit,
           text ? "a " : "", text ? text : "", merge ? merge : "", column->meaning);
}

int describe_tables(void)
{
    fputs(INTRODUCTION, stdout);
    for (int t = 0; t < TABLE_COUNT; t++) {
        const struct process_table *type = process_tables[t];
        printf("\n## `%s`\n\n%s.\n", type->name, type->meaning);
        if (type->column_count > 0)
            fputs("\n| column | dtype | unit | merged | meaning |\n|---|---|---|---|---|\n", stdout);
        for (size_t i = 0; i < type->column_count; i++)
            describe_column(&type->columns[i]);
    }
    return ferror(stdout) != 0;
}
