#ifndef WHY_DELAY_H
#define WHY_DELAY_H

/* Writes DELAY_MIB MiB (environment; 0: none) to the file delay.STEP in the folder DELAY_FOLDER, and waits
 * until they are on the storage. */
void planted_delay(int step);

/* Sleeps for this many milliseconds, in place of computing. */
void work(int milliseconds);

#endif
