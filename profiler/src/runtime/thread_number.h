/* Numbers that identify threads in the tables. */
#ifndef IOLENS_THREAD_NUMBER_H
#define IOLENS_THREAD_NUMBER_H

#include <stdint.h>

/* Returns the number of this thread in this process: 0 for the first one, 1, 2 … for others in the order of
 * their first call. */
uint32_t thread_number(void);

/* Gives the only thread of a child of fork the number 0. */
void thread_number_reset(void);

#endif
