#include "fortran.h"

#include <math.h>
#include <stdlib.h>

#include "json.h"

enum { DIGITS = 8 };

const char *fortran_g16_8(double value, char text[G16_8_SIZE])
{
    char plain[G16_8_SIZE];
    if (!is_finite(value)) {
        snprintf(text, G16_8_SIZE, "%16s", "n/a");
        return text;
    }
    /* The exponent of the number, rounded to eight digits, decides whether it is printed with an exponent. */
    snprintf(plain, sizeof plain, "%.*e", DIGITS - 1, fabs(value));
    int exponent = value == 0.0 ? 1 : atoi(strchr(plain, 'e') + 1) + 1;
    if (exponent >= 0 && exponent < DIGITS) {
        snprintf(text, G16_8_SIZE, "%12.*f    ", DIGITS - exponent, value);
    } else if (exponent == DIGITS) {
        snprintf(text, G16_8_SIZE, "%11.0f.    ", value);
    } else {
        snprintf(text, G16_8_SIZE, "%4s%c%.7s%s%c%0*d", value < 0.0 ? "-0." : "0.", plain[0], plain + 2,
                 abs(exponent) > 99 ? "" : "E", exponent < 0 ? '-' : '+', abs(exponent) > 99 ? 3 : 2,
                 abs(exponent));
    }
    return text;
}

const char *fortran_integer(int value, int width, char *text)
{
    if (snprintf(text, (size_t)width + 1, "%*d", width, value) > width)
        memset(text, '*', (size_t)width);
    return text;
}
