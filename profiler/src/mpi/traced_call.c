#include "traced_call.h"

unsigned traced_what;
