/* Finds the function behind a wrapper. */
#ifndef IOLENS_NEXT_SYMBOL_H
#define IOLENS_NEXT_SYMBOL_H

/* Returns the newest definition of `name` in the libraries that come after this one; NULL if there is none.
 */
void *next_symbol(const char *name);

#endif
