/* Numbers as Fortran prints them. */
#ifndef CHECKPOINT_FORTRAN_H
#define CHECKPOINT_FORTRAN_H

enum { G16_8_SIZE = 32 };

/* Edit descriptor G16.8; a value that is not a number is `n/a`. Returns `text`. */
const char *fortran_g16_8(double value, char text[G16_8_SIZE]);

/* Edit descriptor Iw: stars where the number is too wide. Returns `text`, of at least width + 1 characters.
 */
const char *fortran_integer(int value, int width, char *text);

#endif
