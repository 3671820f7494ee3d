#include "stripes.h"

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Returns how many bytes of [0, end) lie on one stripe: the bytes of all complete rounds over the stripes,
 * plus the stripe's part of the last round. */
static int64_t share_below(int64_t end, int64_t stripe_size, int64_t count, int64_t stripe)
{
    int64_t round = stripe_size * count, rest = end % round - stripe * stripe_size;
    return end / round * stripe_size + (rest < 0 ? 0 : least(rest, stripe_size));
}

int64_t stripes_share(int64_t begin, int64_t end, int64_t stripe_size, int64_t count, int64_t stripe)
{
    return share_below(end, stripe_size, count, stripe) - share_below(begin, stripe_size, count, stripe);
}

static void add(const struct lustre_component *component, struct moved *moved, bool writing, int64_t begin,
                int64_t end)
{
    int64_t size = component->stripe_size, count = component->stripe_count;
    int64_t first = begin / size, touched = least((end - 1) / size - first + 1, count);
    for (int64_t i = 0; i < touched; i++) {
        int64_t stripe = (first + i) % count;
        moved[stripe].bytes[writing] +=
            touched == 1 ? end - begin : stripes_share(begin, end, size, count, stripe);
    }
}

/* Returns how many bytes of [begin, end) lie in the extent of a component, and sets `*from` to the first of
 * them; an extent end of -1 means the end of the file. */
static int64_t overlap(const struct lustre_component *component, int64_t begin, int64_t end, int64_t *from)
{
    int64_t last = component->extent_end < 0 ? INT64_MAX : component->extent_end;
    *from = component->extent_start > begin ? component->extent_start : begin;
    int64_t bytes = least(last, end) - *from;
    return bytes > 0 ? bytes : 0;
}

static bool has_mirrors(const struct lustre_component *component, int64_t components)
{
    for (int64_t i = 1; i < components; i++)
        if (component[i].mirror_id != component[0].mirror_id)
            return true;
    return false;
}

bool stripes_known(const struct lustre_component *component, int64_t components, int64_t offset,
                   int64_t bytes)
{
    int64_t known = 0, from;
    for (int64_t i = 0; i < components; i++)
        known += overlap(&component[i], offset, offset + bytes, &from);
    return known >= bytes || has_mirrors(component, components);
}

int64_t stripes_add(const struct lustre_component *component, int64_t components, struct moved *moved,
                    bool writing, int64_t offset, int64_t bytes)
{
    int64_t left = bytes;
    if (has_mirrors(component, components))
        return left;
    for (int64_t i = 0; i < components; moved += component[i++].stripe_count) {
        int64_t from, here = overlap(&component[i], offset, offset + bytes, &from);
        if (here == 0 || component[i].stripe_count <= 0 || component[i].stripe_size <= 0)
            continue;
        add(&component[i], moved, writing, from, from + here);
        left -= here;
    }
    return left;
}
