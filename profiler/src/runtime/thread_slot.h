/* A small number for each running thread, by which threads choose separate memory to write to. */
#ifndef IOLENS_THREAD_SLOT_H
#define IOLENS_THREAD_SLOT_H

#include <stdint.h>

enum { SLOTS_MOST = 1024 };

/* Returns the number of this thread, from 0. Numbers of ended threads are reused; if more than SLOTS_MOST
 * threads run, several share the last number. */
uint32_t thread_slot(void);

#endif
