/* Numbers as Fortran's E format prints them, which scripts that read NPB's output expect. */
#ifndef BTIO_EXPONENT_H
#define BTIO_EXPONENT_H

/* Writes numbers like 0.1703428370954E+00 for 13 digits; NaN and Infinity as these words. `text` has room for
 * 40 characters. */
void exponent_form(double value, int digits, char text[40]);

#endif
