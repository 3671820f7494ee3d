/* The wrapped functions of stdio: the rows of calls/stdio.def, expanded. */

/* The header renames the scanf family to its C99 names; calls/stdio.def has rows for both names. */
#define fscanf   header_fscanf
#define scanf    header_scanf
#define vfscanf  header_vfscanf
#define vscanf   header_vscanf
#define fwscanf  header_fwscanf
#define wscanf   header_wscanf
#define vfwscanf header_vfwscanf
#define vwscanf  header_vwscanf
#include <stdio.h>
#include <wchar.h>
#undef fscanf
#undef scanf
#undef vfscanf
#undef vscanf
#undef fwscanf
#undef wscanf
#undef vfwscanf
#undef vwscanf
#undef fread_unlocked
#undef fwrite_unlocked

#include <string.h>

#define WRAP_SPENDS
#include "stdio_kinds.h"
#include "stdio_events.h"

#define WRAP_TABLE "calls/stdio.def"
#include "../../runtime/wrap_expand.h"
