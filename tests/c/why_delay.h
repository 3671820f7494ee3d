#ifndef WHY_DELAY_H
#define WHY_DELAY_H

/* Writes DELAY_MIB MiB (environment; 0: none) to the file delay.STEP in the folder DELAY_FOLDER, until
 * storage has them. */
void planted_delay(int step);

/* Sleeps for so many milliseconds, in place of computing. */
void work(int milliseconds);

#endif
