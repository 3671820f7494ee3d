/* Room for a path that is not on the stack: a signal handler may have 8 KiB in all, of which the kernel takes
 * up to half. */
#ifndef IOLENS_PATH_ROOM_H
#define IOLENS_PATH_ROOM_H

enum { PATH_BYTES = 4096 };

/* PATH_BYTES, not zeroed; NULL without memory. Takes no lock: a thread may end with the room it has taken. */
char *path_room_take(void);

/* NULL is accepted. */
void path_room_give(char *room);

#endif
