#include "untrusted_path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "path.h"
#include "file_info.h"

static bool is_open_to_all(const struct stat *folder)
{
    const mode_t sticky = S_ISVTX | S_IWOTH;
    return (folder->st_mode & sticky) == sticky;
}

bool path_is_untrusted(const char *path)
{
    char part[PATH_BYTES];
    struct stat above, here;
    if (file_info("/", &above) != 0)
        return false;
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        if (file_info_at(AT_FDCWD, part, &here, AT_SYMLINK_NOFOLLOW) != 0)
            return false;
        if (S_ISLNK(here.st_mode) && is_open_to_all(&above) && here.st_uid != file_owner_now() &&
            here.st_uid != above.st_uid)
            return true;
        if (!S_ISLNK(here.st_mode))
            above = here;
        else if (file_info(part, &above) != 0)
            return false;
    }
    return false;
}
