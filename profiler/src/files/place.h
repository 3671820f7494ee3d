/* The mount on which a file lies, as the kernel told it when the file was open: its number, or the device
 * before Linux 5.8. A path alone does not tell: a file system may be mounted over the file later, or in
 * another mount namespace. */
#ifndef IOLENS_PLACE_H
#define IOLENS_PLACE_H

#include <stdint.h>

struct place {
    int64_t mount;   /* Kernel's number of the mount; -1 if it numbers none, 0 if it was not asked. */
    uint64_t device; /* Device of the file, as in st_dev. */
};

/* Asks the kernel about an open descriptor. errno is preserved. */
void place_ask(struct place *place, int fd);

#endif
