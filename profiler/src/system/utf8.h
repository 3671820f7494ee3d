/* Characters of UTF-8, in text that comes from other programs or users. */
#ifndef IOLENS_UTF8_H
#define IOLENS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes of the UTF-8 character at the start of `text`; 0 if there is none. */
static inline int utf8_length(const unsigned char *text)
{
    int length = text[0] < 0x80                      ? 1
                 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                 : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                 : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                     : 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* Returns the code point of a UTF-8 sequence of `length` bytes. */
static inline uint32_t utf8_letter(const unsigned char *text, int length)
{
    uint32_t letter = length == 1 ? text[0] : text[0] & (0xffu >> (length + 1));
    for (int i = 1; i < length; i++)
        letter = letter << 6 | (text[i] & 0x3f);
    return letter;
}

/* Returns true for a character that a terminal does not show but obeys: control characters, separators of
 * lines, and characters that turn the direction of the text around. */
static inline bool utf8_is_obeyed(uint32_t letter)
{
    static const struct {
        uint32_t first, last;
    } OBEYED[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},
                  {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}};
    for (size_t i = 0; i < sizeof OBEYED / sizeof *OBEYED; i++)
        if (letter >= OBEYED[i].first && letter <= OBEYED[i].last)
            return true;
    return false;
}

#endif
