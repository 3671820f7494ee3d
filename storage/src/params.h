/* ost.yaml: flat `key: value  # comment` lines. */
#ifndef OST_PARAMS_H
#define OST_PARAMS_H

#include <stddef.h>

#include "model.h"

/* Fill `params` from the text of a configuration; every key must be there once. Returns 0, or -1 with one
 * sentence, naming line and key, in `problem`. */
int ost_params_parse(const char *text, struct ost_params *params, char *problem, size_t room);

#endif
