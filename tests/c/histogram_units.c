/* Tests every bound of Darshan's buckets from both sides, and the powers of two. */
#include "../../profiler/src/modules/histogram.h"
#include "posix_expect.h"

static int by_counting(int64_t bytes)
{
    const int64_t bounds[] = {100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824};
    int bucket = 0;
    for (int i = 0; i < 9; i++)
        bucket += bytes > bounds[i];
    return bucket;
}

int main(void)
{
    for (int64_t bytes = 0; bytes < 300000; bytes++)
        MUST(histogram_bucket(bytes) == by_counting(bytes));
    for (int bit = 0; bit < 63; bit++)
        for (int64_t bytes = ((int64_t)1 << bit) - 1; bytes <= ((int64_t)1 << bit) + 1; bytes++)
            MUST(histogram_bucket(bytes) == by_counting(bytes));
    for (int64_t bytes = 10485759; bytes <= 10485761; bytes++)
        MUST(histogram_bucket(bytes) == by_counting(bytes) &&
             histogram_bucket(10 * bytes) == by_counting(10 * bytes));
    MUST(histogram_bucket(INT64_MAX) == 9);
    return 0;
}
