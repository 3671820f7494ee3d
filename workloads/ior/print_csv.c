/* IOR's CSV: one line for each phase. */
#include "print.h"

#define MIB 1048576.0

static void begin(int argc, char **argv, const Settings *settings)
{
    (void)argc, (void)argv, (void)settings;
    fputs("access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/"
          "rd(s),close(s),total(s),numTasks,iter\n",
          print_out);
}

static void test_begin(const Settings *settings, const Team *team, int number)
{
    (void)settings, (void)team, (void)number;
}

static void row(const Test *test, const Row *row)
{
    const Outcome *o = &row->outcome;
    if (row->is_removal)
        return;
    fprintf(print_out, "%s,%.4f,%.4f,%.9f,%.4f,%.4f,%.6f,%.6f,%.6f,%.6f,%d,%d\n", print_access(row),
            o->bandwidth / MIB, o->per_second, o->latency, (double)test->settings->block / 1024.0,
            (double)test->settings->transfer / 1024.0, o->open, o->move, o->close, o->total, test->team.tasks,
            o->repetition);
}

static void test_end(const Test *test) { (void)test; }

static void end(const Test *tests, int count) { (void)tests, (void)count; }

const Format FORMAT_CSV = {"CSV", begin, test_begin, row, test_end, end};
