/* The wrapped functions of stdio: the rows of calls/stdio.def, expanded. */

/* The header renames the scanf family to its C99 twins; the rows name both. */
#define fscanf  header_fscanf
#define scanf   header_scanf
#define vfscanf header_vfscanf
#define vscanf  header_vscanf
#include <stdio.h>
#undef fscanf
#undef scanf
#undef vfscanf
#undef vscanf
#undef fread_unlocked
#undef fwrite_unlocked

#include <string.h>

#define WRAP_SPENDS
#include "stdio_kinds.h"
#include "stdio_events.h"

#define WRAP_TABLE "calls/stdio.def"
#include "../../runtime/wrap_expand.h"
