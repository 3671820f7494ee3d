/* Removes unfinished files of a job that its launcher ends, on SIGTERM, SIGINT and SIGHUP; the signal then
 * takes its usual effect. */
#ifndef CHECKPOINT_ABANDON_H
#define CHECKPOINT_ABANDON_H

void abandon_add(const char *path);

/* Cancels the removal, when the files are complete or already removed. */
void abandon_none(void);

#endif
