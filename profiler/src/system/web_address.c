#include "web_address.h"

#include <string.h>

/* Returns the length of the scheme with "://"; 0 if there is none. */
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
    size_t rest = strcspn(host, "?#");
    scheme = scheme < bytes - 1 ? scheme : 0;
    rest = rest < bytes - 1 - scheme ? rest : bytes - 1 - scheme;
    memset(place, 0, bytes);
    memcpy(place, address, scheme);
    memcpy(place + scheme, host, rest);
}
