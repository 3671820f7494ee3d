#include "path.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hash.h"
#include "large_room.h"
#include "system_call.h"
#include "utf8.h"

/* System folders whose files are not recorded, as in Darshan. */
static const char *const EXCLUDED[] = {"/etc", "/dev",  "/usr", "/bin",  "/boot", "/lib",
                                       "/opt", "/sbin", "/sys", "/proc", "/var"};

/* Files that MPI libraries use internally: lock tests, session folders, shared memory. Open MPI 5 names its
 * session folders after PRRTE. OMPIO's shared file pointers are named <file>_cid-<number>-<number>.sm. */
static const char *const CONTROL[] = {".locktest.",   "/ompi.",          "/openmpi-sessions-",
                                      "/prterun.",    "/prte.",          "/pmix-gds-",
                                      "/sm_segment.", "/vader_segment.", "/mpich_shar_tmp"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Writes a name for a folder whose path is too long for the kernel: a name with the folder's device and
 * inode. */
static bool deep_folder(char *out, int dirfd)
{
    struct stat info;
    if (file_info_at(dirfd, "", &info, AT_EMPTY_PATH) != 0)
        return false;
    snprintf(out, PATH_BYTES, "/<folder with a path of more than %d bytes, device %llu, inode %llu>",
             PATH_BYTES, (unsigned long long)info.st_dev, (unsigned long long)info.st_ino);
    return true;
}

static bool folder_of(char *out, int dirfd)
{
    char link[64];
    if (dirfd == AT_FDCWD)
        return getcwd(out, PATH_BYTES) ||
               ((errno == ERANGE || errno == ENAMETOOLONG) && deep_folder(out, dirfd));
    snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
    ssize_t length = readlink(link, out, PATH_BYTES - 1);
    if (length < 0 && errno == ENAMETOOLONG)
        return deep_folder(out, dirfd);
    if (length <= 0 || out[0] != '/')
        return false;
    out[length] = '\0';
    return true;
}

/* Removes double slashes and "/./" from a path in place, and resolves "/../" by the path's spelling, whatever
 * symbolic links it has. */
static void squeeze(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        while (*from == '/')
            from++;
        size_t length = strcspn(from, "/");
        if (length == 2 && from[0] == '.' && from[1] == '.') {
            while (to > path && *--to != '/')
                continue;
        } else if (length > 0 && !(length == 1 && from[0] == '.')) {
            *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

static bool has_dotdot(const char *path)
{
    for (const char *at = strstr(path, "/.."); at; at = strstr(at + 1, "/.."))
        if (at[3] == '/' || at[3] == '\0')
            return true;
    return false;
}

enum { MOST_LINKS = 40 };

/* State of resolving a path: `out` is the resolved part without links; `rest` is the part still to resolve,
 * stored from `at` to the end of its memory, so that the text of a link can be put before it. */
struct walk {
    char *out, *rest;
    size_t used, at;
    int links;
};

static void up(struct walk *walk)
{
    while (walk->used > 0 && walk->out[--walk->used] != '/')
        continue;
}

/* Resolves the next part of the path, which has `length` bytes. */
static bool follow(struct walk *walk, size_t length)
{
    const char *part = walk->rest + walk->at;
    size_t before = walk->used;
    walk->at += length;
    if (length == 1 && part[0] == '.')
        return true;
    if (length == 2 && part[0] == '.' && part[1] == '.') {
        up(walk);
        return true;
    }
    if (before + length + 2 > PATH_BYTES)
        return false;
    walk->out[walk->used++] = '/';
    memcpy(walk->out + walk->used, part, length);
    walk->used += length;
    walk->out[walk->used] = '\0';
    ssize_t target = readlink(walk->out, walk->rest, walk->at);
    if (target < 0)
        return errno == EINVAL; /* The error EINVAL means that the path exists and is not a symbolic link. */
    if ((size_t)target >= walk->at || walk->links++ == MOST_LINKS)
        return false;
    walk->at -= (size_t)target;
    memmove(walk->rest + walk->at, walk->rest, (size_t)target);
    walk->used = walk->rest[walk->at] == '/' ? 0 : before;
    return true;
}

bool path_real(char out[PATH_BYTES], const char *absolute)
{
    size_t length = strlen(absolute);
    struct walk walk = {.out = out, .rest = path_room_take(), .at = PATH_BYTES - 1 - length};
    bool found = walk.rest && length < PATH_BYTES;
    if (found)
        memcpy(walk.rest + walk.at, absolute, length + 1);
    while (found) {
        walk.at += strspn(walk.rest + walk.at, "/");
        size_t part = strcspn(walk.rest + walk.at, "/");
        if (part == 0)
            break;
        found = follow(&walk, part);
    }
    path_room_give(walk.rest);
    if (walk.used == 0)
        out[walk.used++] = '/';
    out[walk.used] = '\0';
    return found;
}

/* Writes `path` to `real`, with symbolic links resolved in all parts but the last. Returns false if the
 * folder does not exist. */
static bool real_folder(char real[PATH_BYTES], char *path)
{
    char *base = strrchr(path, '/');
    *base = '\0';
    bool found = path_real(real, path);
    *base = '/';
    size_t used = found && real[1] ? strlen(real) : 0, length = strlen(base);
    found = found && used + length < PATH_BYTES;
    if (found)
        memcpy(real + used, base, length + 1);
    return found;
}

/* Resolves the path in place. Its last part need not exist, because the file may have been renamed or
 * removed. */
static void make_real(char *path)
{
    char *real = path_room_take();
    if (real && (path_real(real, path) || real_folder(real, path)))
        strcpy(path, real);
    path_room_give(real);
}

bool path_absolute(char out[PATH_BYTES], int dirfd, const char *path)
{
    size_t used = 0, length = strlen(path);
    if (length == 0)
        return false;
    if (path[0] != '/') {
        if (!folder_of(out, dirfd))
            return false;
        used = strlen(out);
        out[used++] = '/';
    }
    if (used + length >= PATH_BYTES)
        return false;
    memcpy(out + used, path, length + 1);
    if (has_dotdot(out))
        make_real(out);
    squeeze(out);
    return true;
}

static bool is_below(const char *absolute, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(absolute, folder, length) == 0 && (absolute[length] == '/' || absolute[length] == '\0');
}

static bool is_included(const char *absolute, const char *include)
{
    while (*include) {
        size_t length = strcspn(include, ":");
        if (length > 0 && strncmp(absolute, include, length) == 0)
            return true;
        include += length + (include[length] == ':');
    }
    return false;
}

static bool is_control_file(const char *absolute)
{
    const char *dot = strrchr(absolute, '.');
    for (size_t i = 0; i < COUNT(CONTROL); i++)
        if (strstr(absolute, CONTROL[i]))
            return true;
    return dot && strcmp(dot, ".sm") == 0 && strstr(absolute, "_cid-");
}

bool path_is_recorded(const char *absolute, const char *include)
{
    if (absolute[0] != '/')
        return true;
    if (is_control_file(absolute))
        return false;
    for (size_t i = 0; i < COUNT(EXCLUDED); i++)
        if (is_below(absolute, EXCLUDED[i]))
            return is_included(absolute, include);
    return absolute[1] != '\0';
}

enum { ROOMS = 64 };

static char rooms[ROOMS][PATH_BYTES] LARGE_ROOM;
static _Atomic uint64_t taken; /* Bit i: rooms[i] is in use. */

/* Returns room for a path; NULL without memory. If all rooms are in use, a separate page is mapped, which
 * costs two system calls. */
char *path_room_take(void)
{
    uint64_t before = atomic_load_explicit(&taken, memory_order_relaxed);
    while (~before) {
        int free = __builtin_ctzll(~before);
        if (atomic_compare_exchange_weak_explicit(&taken, &before, before | UINT64_C(1) << free,
                                                  memory_order_acquire, memory_order_relaxed))
            return rooms[free];
    }
    long page =
        system_call(SYS_mmap, NULL, PATH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    return page == -1 ? NULL : (char *)page;
}

void path_room_give(char *room)
{
    uintptr_t at = (uintptr_t)room - (uintptr_t)rooms;
    if (at < sizeof rooms)
        atomic_fetch_and_explicit(&taken, ~(UINT64_C(1) << at / PATH_BYTES), memory_order_release);
    else if (room)
        system_call(SYS_munmap, room, PATH_BYTES);
}

void path_component(char out[COMPONENT_BYTES], const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;
    while (*at) {
        size_t length = (size_t)utf8_length(at), bytes = length > 0 ? length : 1;
        bool kept = length > 0 && *at != '/' && !(used == 0 && *at == '.') &&
                    !utf8_is_obeyed(utf8_letter(at, (int)length));
        size_t more = kept ? bytes : 1;
        if (used + more >= COMPONENT_BYTES)
            break;
        memcpy(out + used, kept ? (const void *)at : "_", more);
        used += more;
        at += bytes;
    }
    if (used == 0)
        out[used++] = '_';
    out[used] = '\0';
}

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

enum { HASH_ROOM = 18 }; /* Room for "~", 16 digits, and the final NUL. */

/* Returns the length of the scheme, such as "https://", including "://"; 0 if there is none. */
static size_t scheme_of(const char *address)
{
    size_t name = strcspn(address, ":@/?#");
    return name > 0 && strncmp(address + name, "://", 3) == 0 ? name + 3 : 0;
}

bool is_web_address(const char *text) { return scheme_of(text) > 0; }

void web_address_without_secrets(char *place, size_t bytes, const char *address)
{
    size_t scheme = scheme_of(address);
    const char *host = address + scheme, *path = host + strcspn(host, "/?#");
    const char *user = memrchr(host, '@', (size_t)(path - host));
    host = user ? user + 1 : host;
    size_t rest = strcspn(host, "?#"), room = bytes - 1;
    scheme = scheme < room - HASH_ROOM ? scheme : 0;
    size_t kept = scheme + rest <= room ? rest : room - HASH_ROOM - scheme;
    memset(place, 0, bytes);
    memcpy(place, address, scheme);
    memcpy(place + scheme, host, kept);
    if (kept < rest)
        snprintf(place + scheme + kept, HASH_ROOM, "~%016llx", (unsigned long long)record_id(host, rest));
}
