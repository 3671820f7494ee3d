/* The compilers that built a program: each has left its name in the section ".comment" of the ELF file. */
#ifndef IOLENS_COMPILER_H
#define IOLENS_COMPILER_H

enum { COMPILER_BYTES = 512 };

/* Reads the program's file, before the program begins: it may watch its own file later (inotify), and would
 * see each time that the file is opened. Needs four short reads. */
void compiler_read(void);

/* Returns the distinct entries, each ended by a newline; "" if the file is no ELF file of this machine or has
 * no such section. Entries that do not fit are left out. */
const char *compiler_names(void);

#endif
