/* Where a thread is in the regions that the program marks. */
#ifndef IOLENS_REGION_H
#define IOLENS_REGION_H

#include <stdint.h>

/* The innermost region that this thread is in, by its row in the table region_names; 0 outside all of them.
 */
extern __thread uint32_t iolens_region __attribute__((tls_model("initial-exec")));

#endif
