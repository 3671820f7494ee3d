/* The compilers that built a program: each has left its name in the section ".comment" of the ELF file. */
#ifndef IOLENS_COMPILER_H
#define IOLENS_COMPILER_H

#include <stddef.h>

/* Writes the distinct entries to `out`, each ended by a newline; "" if the file is no ELF file of this
 * machine or has no such section. Entries that do not fit are left out. Needs four short reads. */
void compiler_read(const char *path, char *out, size_t size);

#endif
