/* Addresses of objects on the web, such as "https://user:key@store/data.h5?signature=…". */
#ifndef IOLENS_WEB_ADDRESS_H
#define IOLENS_WEB_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the text begins with a scheme, as in "http://". */
bool is_web_address(const char *text);

/* Copies an address to `place`, which has `bytes` bytes (at least 64), and fills the rest with zeros. User,
 * password and everything behind the path are left out, because they may hold a key to the data. An address
 * that is too long ends in a hash of all of it. */
void web_address_without_secrets(char *place, size_t bytes, const char *address);

#endif
