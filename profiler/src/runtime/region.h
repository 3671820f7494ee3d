/* The current region of the calling thread, among the regions that the program marks. */
#ifndef IOLENS_REGION_H
#define IOLENS_REGION_H

#include <stdint.h>

/* Row of the table region_names for the thread's innermost region; 0 outside all regions. */
extern __thread uint32_t iolens_region __attribute__((tls_model("initial-exec")));

#endif
