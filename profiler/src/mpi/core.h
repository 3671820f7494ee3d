/* The core's functions, as seen from an adapter: without the core in the preload chain they stay undefined,
 * and the adapter steps aside. */
#ifndef IOLENS_CORE_H
#define IOLENS_CORE_H

#include "../adapter.h"

#define BORDER(returns, name, parameters, meaning) __attribute__((weak)) returns name parameters;
#include "../adapter.def"
#undef BORDER

#endif
