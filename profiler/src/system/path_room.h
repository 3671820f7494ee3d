/* Memory for a path that is not on the stack: a signal handler may have only 8 KiB of stack, of which the
 * kernel takes up to half. */
#ifndef IOLENS_PATH_ROOM_H
#define IOLENS_PATH_ROOM_H

enum { PATH_BYTES = 4096 };

/* Returns PATH_BYTES of memory that is not zeroed; NULL without memory. Takes no lock, because a thread
 * may end while it uses the memory. */
char *path_room_take(void);

/* Gives the memory back; NULL is accepted. */
void path_room_give(char *room);

#endif
