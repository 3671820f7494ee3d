/* Two arrays that say how the counters of a record merge, made from the table that COUNTERS names. Each
 * module includes this file once. */
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
