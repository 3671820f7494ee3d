/* Which compilers a program was made with: the section ".comment" of its ELF file, where each has left its
 * name. */
#ifndef IOLENS_COMPILER_H
#define IOLENS_COMPILER_H

#include <stddef.h>

/* Write the distinct entries to `out`, each ended by a newline; "" when the file is no ELF file of this
 * machine or has no such section. What does not fit is left out. Four short reads. */
void compiler_read(const char *path, char *out, size_t size);

#endif
