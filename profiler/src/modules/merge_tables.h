/* How the counters of a record merge, as two arrays, from the table named by COUNTERS. Included once per
 * module. */
static const unsigned char INT_MERGE[] = {
#define INT(name, merge) merge,
#define DOUBLE(name, merge)
#include COUNTERS
#undef INT
#undef DOUBLE
};

static const unsigned char DOUBLE_MERGE[] = {
#define INT(name, merge)
#define DOUBLE(name, merge) merge,
#include COUNTERS
#undef INT
#undef DOUBLE
};
