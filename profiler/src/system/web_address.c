#include "web_address.h"

#include <stdio.h>
#include <string.h>

#include "hash.h"

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
