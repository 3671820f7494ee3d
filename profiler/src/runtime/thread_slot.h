/* A number for each thread that runs, for what threads must not write to together. */
#ifndef IOLENS_THREAD_SLOT_H
#define IOLENS_THREAD_SLOT_H

#include <stdint.h>

enum { SLOTS_MOST = 1024 };

/* The number of this thread, from 0. Given again when a thread has ended; beyond SLOTS_MOST threads at once
 * several share the last one. */
uint32_t thread_slot(void);

#endif
