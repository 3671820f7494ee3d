/* The stripes of a file, from the lustre.lov extended attribute (layouts v1 and v3; others are unknown). */
#ifndef COMMON_LAYOUT_H
#define COMMON_LAYOUT_H

typedef struct Layout {
    int stripe_count; /* Number of stripes; 0 if unknown, or if the file system has none. */
    long stripe_size; /* Size of a stripe in bytes. */
} Layout;

Layout layout_of(const char *path);

#endif
