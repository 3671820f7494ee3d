#include "cube.h"

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Returns the value of array `array` at a cell, from 0 up to 1 exclusive: a 64-bit mix (splitmix64's
 * finaliser; Steele, Lea, Flood, OOPSLA 2014) of the cell's number `((array levels + level) latitudes +
 * latitude) edge + longitude`, whose upper 24 bits fit into a float without rounding. */
static float field_value(const Cube *cube, int array, int level, int latitude, int longitude)
{
    uint64_t plane = (uint64_t)array * (uint64_t)cube->levels + (uint64_t)level;
    uint64_t cell = (plane * (uint64_t)cube->latitudes + (uint64_t)latitude) * (uint64_t)cube->edge;
    return (float)(mix(cell + (uint64_t)longitude) >> 40) * 0x1p-24f;
}

size_t field_cells(const Cube *cube) { return (size_t)cube->own[0].size * (size_t)cube->own[1].size; }

static float expected_value(const Cube *cube, int array, bool static_data, int level, int y, int x)
{
    if (static_data)
        return (float)cube->rank;
    return field_value(cube, array, level, cube->own[1].first + y, cube->own[0].first + x);
}

void field_fill(const Cube *cube, int array, bool static_data, float *part)
{
    for (int level = 0; level < cube->levels; level++)
        for (int y = 0; y < cube->own[1].size; y++)
            for (int x = 0; x < cube->own[0].size; x++)
                *part++ = expected_value(cube, array, static_data, level, y, x);
}

void field_check(const Cube *cube, int array, bool static_data, const float *part, Wrong *wrong)
{
    for (int level = 0; level < cube->levels; level++)
        for (int y = 0; y < cube->own[1].size; y++)
            for (int x = 0; x < cube->own[0].size; x++, part++) {
                float expected = expected_value(cube, array, static_data, level, y, x);
                if (memcmp(part, &expected, sizeof expected) == 0)
                    continue;
                if (wrong->count++ == 0)
                    *wrong = (Wrong){
                        1,     array + 1, level + 1, cube->own[1].first + y + 1, cube->own[0].first + x + 1,
                        *part, expected};
            }
}
