/* A debugger that watches the program. */
#ifndef IOLENS_DEBUGGER_H
#define IOLENS_DEBUGGER_H

/* Returns the name of the program that traces this process (ptrace) and may stop it at each signal, as gdb
 * does, or end it, as ltrace does. NULL if there is none; strace hands every signal on, and does not count.
 */
const char *debugger_name(void);

#endif
