/* Static memory that most processes use little of. */
#ifndef IOLENS_LARGE_ROOM_H
#define IOLENS_LARGE_ROOM_H

/* Marks a large variable. The linker sorts sections by name and so puts these variables behind all small
 * ones, which then share few pages: getting a page takes a microsecond. */
#define LARGE_ROOM __attribute__((section(".bss.z_large")))

#endif
