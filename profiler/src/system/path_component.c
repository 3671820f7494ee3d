#include "path_component.h"

#include <string.h>

#include "utf8.h"

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
