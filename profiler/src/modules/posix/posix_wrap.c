/* The wrapped POSIX functions: the rows of calls/posix.def, expanded. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "extra.h"
#include "posix.h"
#include "posix_kinds.h"

#define WRAP_EARLY
#define WRAP_TABLE "calls/posix.def"
#include "../../runtime/wrap_expand.h"
