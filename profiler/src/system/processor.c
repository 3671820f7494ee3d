#include "processor.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)
enum { NAMES = 0x80000002, NAME_LEAVES = 3, LEAF_BYTES = 16, BASE_FAMILY = 15, INTEL_6 = 6 };

/* The widest vectors, multiplied and added in as many units as the family's manual for optimisation names. Of
 * Intel's the row holds for what has the vectors, in two units; some of them have one. */
static const struct peak {
    const char *vendor;
    unsigned family, model; /* the first of its processors */
    const char *vectors;
    int64_t peak;
} PEAKS[] = {
    {"AuthenticAMD", 0x1a, 0, "", 32},       {"AuthenticAMD", 0x19, 0, "", 16},
    {"AuthenticAMD", 0x17, 0x30, "", 16},    {"AuthenticAMD", 0x17, 0, "", 8},
    {"AuthenticAMD", 0x10, 0, "", 4},        {"AuthenticAMD", 0x0f, 0, "", 2},
    {"HygonGenuine", 0x18, 0, "", 8},        {"GenuineIntel", INTEL_6, 0, "avx512f", 32},
    {"GenuineIntel", INTEL_6, 0, "fma", 16}, {"GenuineIntel", INTEL_6, 0, "avx", 8},
    {"GenuineIntel", INTEL_6, 0, "", 4},
};

static bool has(const char *vectors)
{
    __builtin_cpu_init();
    if (strcmp(vectors, "avx512f") == 0)
        return __builtin_cpu_supports("avx512f");
    if (strcmp(vectors, "fma") == 0)
        return __builtin_cpu_supports("fma");
    return strcmp(vectors, "avx") != 0 || __builtin_cpu_supports("avx");
}

static int64_t peak_of(const struct processor *processor)
{
    for (size_t i = 0; i < sizeof PEAKS / sizeof *PEAKS; i++) {
        const struct peak *row = &PEAKS[i];
        bool later = processor->family > row->family ||
                     (processor->family == row->family && processor->model >= row->model);
        if (strcmp(row->vendor, processor->vendor) == 0 && later && has(row->vectors))
            return row->peak;
    }
    return 0;
}

/* Family and model as in the processors' manuals: the base ones, and where the family says so the extended
 * ones. */
static void read_family(struct processor *processor)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid(1, &a, &b, &c, &d);
    unsigned base = a >> 8 & 15;
    processor->family = base == BASE_FAMILY ? base + (a >> 20 & 255) : base;
    processor->model = (a >> 4 & 15) + (base == BASE_FAMILY || base == INTEL_6 ? (a >> 16 & 15) << 4 : 0);
}

static void read_name(struct processor *processor)
{
    unsigned words[LEAF_BYTES / sizeof(unsigned)];
    char name[NAME_LEAVES * LEAF_BYTES + 1] = "";
    for (unsigned leaf = 0; leaf < NAME_LEAVES; leaf++)
        if (__get_cpuid(NAMES + leaf, &words[0], &words[1], &words[2], &words[3]))
            memcpy(name + (size_t)leaf * LEAF_BYTES, words, LEAF_BYTES);
    const char *begin = name + strspn(name, " ");
    size_t length = strlen(begin);
    while (length > 0 && begin[length - 1] == ' ')
        length--;
    memcpy(processor->name, begin, length);
}

void processor_read(struct processor *processor)
{
    unsigned a, b, c, d;
    memset(processor, 0, sizeof *processor);
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return;
    memcpy(processor->vendor, &b, sizeof b);
    memcpy(processor->vendor + sizeof b, &d, sizeof d);
    memcpy(processor->vendor + sizeof b + sizeof d, &c, sizeof c);
    read_family(processor);
    read_name(processor);
    processor->peak = peak_of(processor);
}
#else
void processor_read(struct processor *processor) { memset(processor, 0, sizeof *processor); }
#endif
