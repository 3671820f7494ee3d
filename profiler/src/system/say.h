/* The library's messages to the user: single sentences on standard error. */
#ifndef IOLENS_SAY_H
#define IOLENS_SAY_H

/* When the process begins, remembers which file standard error is, so that a message never lands in a
 * file that took its place. */
void say_start(void);

/* Prints one sentence, prefixed by "iolens: ", unless the program closed or replaced standard error. */
void iolens_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
