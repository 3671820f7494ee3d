/* The stripes of a file, from the lustre.lov extended attribute (layouts v1 and v3; others are unknown). */
#ifndef COMMON_LAYOUT_H
#define COMMON_LAYOUT_H

typedef struct Layout {
    int stripe_count; /* 0: unknown, or a file system without stripes */
    long stripe_size; /* bytes */
} Layout;

Layout layout_of(const char *path);

#endif
