#include "whole_number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

bool whole_number(const char *text, int64_t least, int64_t most, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *number >= least && *number <= most;
}
