#include "region.h"

__thread uint32_t iolens_region;
