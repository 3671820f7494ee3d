/* ost.yaml: flat `key: value  # comment` lines. */
#ifndef OST_PARAMS_H
#define OST_PARAMS_H

#include <stddef.h>

#include "model.h"

/* Fills `params` from the text of a configuration, in which no key may occur twice, and every key that is not
 * of an effect must occur. Returns 0, or -1 with a sentence in `problem` that names line and key. */
int ost_params_parse(const char *text, struct ost_params *params, char *problem, size_t room);

/* Parses all of `text` as a number from `least` to `most`; returns false if it is not one. */
bool whole_number(const char *text, int64_t least, int64_t most, int64_t *number);

#endif
