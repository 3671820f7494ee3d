/* Declares the core's functions as weak symbols for the adapter. If the core is not preloaded, they stay
 * undefined, and the adapter does nothing. */
#ifndef IOLENS_CORE_H
#define IOLENS_CORE_H

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#endif
