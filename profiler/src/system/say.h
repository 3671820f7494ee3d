/* The library's messages to the user: single sentences on standard error. */
#ifndef IOLENS_SAY_H
#define IOLENS_SAY_H

/* Remembers, when the process begins, the file that standard error is, so that no message is written into
 * another file that later gets the same descriptor. */
void say_start(void);

/* Prints one sentence, prefixed by "iolens: ", unless the program closed or replaced standard error. */
void iolens_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
