#include "exponent.h"

#include "finite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 17 };

void exponent_form(double value, int digits, char text[40])
{
    char c_form[48], mantissa[MOST_DIGITS + 1];
    if (!is_finite(value)) {
        strcpy(text, is_nan(value) ? "NaN" : value > 0.0 ? "Infinity" : "-Infinity");
        return;
    }
    snprintf(c_form, sizeof c_form, "%.*e", digits - 1, fabs(value));
    const char *mark = strchr(c_form, 'e');
    int exponent = value == 0.0 ? 0 : atoi(mark + 1) + 1;
    mantissa[0] = c_form[0];
    memcpy(mantissa + 1, c_form + 2, (size_t)digits - 1);
    mantissa[digits] = '\0';
    snprintf(text, 40, "%s0.%sE%+03d", value < 0.0 ? "-" : "", mantissa, exponent);
}
