#include "owner.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../runtime/context.h"

bool owner_become(const char *spool)
{
    struct stat info;
    if (geteuid() != 0 || lstat(spool, &info) != 0 || info.st_uid == 0)
        return true;
    if (setgroups(0, NULL) == 0 && setgid(info.st_gid) == 0 && setuid(info.st_uid) == 0)
        return true;
    iolens_say("cannot take the rights of user %u, who owns %s: %s; run the command as that user",
               (unsigned)info.st_uid, spool, strerror(errno));
    return false;
}
