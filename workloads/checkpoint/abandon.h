/* Unfinished files of a job that its launcher ends: removed on SIGTERM, SIGINT and SIGHUP, which then take
 * their course. */
#ifndef CHECKPOINT_ABANDON_H
#define CHECKPOINT_ABANDON_H

void abandon_add(const char *path);

/* Nothing is to be removed any more: the files are complete, or removed already. */
void abandon_none(void);

#endif
