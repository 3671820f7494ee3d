/* Removes the unfinished files of a job when its launcher ends it by SIGTERM, SIGINT or SIGHUP. Afterwards
 * the signal has its usual effect. */
#ifndef CHECKPOINT_ABANDON_H
#define CHECKPOINT_ABANDON_H

void abandon_add(const char *path);

/* Cancels the removal, because the files are complete or already removed. */
void abandon_none(void);

#endif
