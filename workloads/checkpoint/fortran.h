/* Numbers as Fortran prints them. */
#ifndef CHECKPOINT_FORTRAN_H
#define CHECKPOINT_FORTRAN_H

enum { G16_8_SIZE = 32 };

/* Writes a number by the edit descriptor G16.8; NaN becomes `n/a`. Returns `text`. */
const char *fortran_g16_8(double value, char text[G16_8_SIZE]);

/* Writes a number by the edit descriptor Iw; a number that is too wide becomes stars. Returns `text`, of at
 * least width + 1 characters. */
const char *fortran_integer(int value, int width, char *text);

#endif
