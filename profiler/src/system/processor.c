#include "processor.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

#endif

#if defined(__x86_64__)
enum {
    NAMES = 0x80000002,
    LOWEST = 15,
    NAME_LEAVES = 3,
    LEAF_BYTES = 16,
    BASE_FAMILY = 15,
    INTEL_6 = 6,
    MODELS = 16
};

/* Nominal peaks of a core, in double-precision operations per cycle, if all its units multiply and add the
 * widest vectors. Not listed, and therefore unknown, are: processors with AVX-512, because models with one
 * AVX-512 unit have the same number as models with two (community.intel.com, "Calculate the Max Flops on
 * Skylake"); processors with cores of two kinds; AMD's before Zen 2, except K10; and later processors. */
static const struct peak {
    const char *vendor;
    unsigned family;
    const char *vectors; /* CPU feature without which this row does not hold; some virtual machines hide a
                          * feature that the processor has. */
    int64_t peak;
    unsigned char models[MODELS]; /* Models of the family, ended by 0; an empty list means all models. */
} PEAKS[] = {
    /* Zen 2 to 4: two units of 256 bits multiply and add at once, as measured for Zen 3 in
     * wlog.flatlib.jp/2024/01/13/ryzen-zen3-vfpbench, which finds the same for Zen 2 and Zen 4. */
    {"AuthenticAMD", 0x19, "fma", 16, {0}},
    {"AuthenticAMD", 0x17, "fma", 16, {0x31, 0x47, 0x60, 0x68, 0x71, 0x84, 0x90, 0x98, 0xa0}},
    /* K10: the value follows from CrayPAT's output for the program rhsf on a quad-core Opteron, which gives a
     * percentage of the peak. */
    {"AuthenticAMD", 0x10, "", 4, {0}},
    /* Haswell, Broadwell and Skylake to Comet Lake without AVX-512; Sandy and Ivy Bridge; Core 2 to Westmere:
     * all in stackoverflow.com/questions/15655835. */
    {"GenuineIntel",
     INTEL_6,
     "fma",
     16,
     {0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56, 0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6}},
    {"GenuineIntel", INTEL_6, "avx", 8, {0x2a, 0x2d, 0x3a, 0x3e}},
    {"GenuineIntel", INTEL_6, "", 4, {0x0f, 0x17, 0x1d, 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f}},
};

/* Returns true if the processor and the system support these vector instructions ("avx", "fma", or "" for
 * none). The compiler's own table of features is not used: it would read a dozen leaves when the library is
 * loaded, which takes long in a virtual machine. */
static bool has(const char *vectors)
{
    enum { FMA = 1 << 12, XSAVE = 1 << 27, AVX = 1 << 28, WIDE_REGISTERS = 6 };
    unsigned features = leaf_read(LEAF_FEATURES).c, state = 0, high;
    if (features & XSAVE)
        __asm__("xgetbv" : "=a"(state), "=d"(high) : "c"(0));
    bool avx = features & AVX && (state & WIDE_REGISTERS) == WIDE_REGISTERS;
    return *vectors == '\0' || (avx && (strcmp(vectors, "fma") != 0 || features & FMA));
}

static bool of_models(const struct peak *row, unsigned model)
{
    return row->models[0] == 0 ||
           (model <= UCHAR_MAX && model != 0 && memchr(row->models, (int)model, MODELS));
}

int64_t processor_peak(const char *vendor, unsigned family, unsigned model)
{
    for (size_t i = 0; i < sizeof PEAKS / sizeof *PEAKS; i++) {
        const struct peak *row = &PEAKS[i];
        if (strcmp(row->vendor, vendor) == 0 && family == row->family && of_models(row, model) &&
            has(row->vectors))
            return row->peak;
    }
    return 0;
}

/* Reads family and model as in the processors' manuals: the base values, and the extended ones if the
 * family says so. */
static void read_family(struct processor *processor)
{
    unsigned a = leaf_read(LEAF_FEATURES).a;
    unsigned base = a >> 8 & 15;
    processor->family = base == BASE_FAMILY ? base + (a >> 20 & 255) : base;
    processor->model = (a >> 4 & 15) + (base == BASE_FAMILY || base == INTEL_6 ? (a >> 16 & 15) << 4 : 0);
}

/* Returns true if CPUID tells the processor's name. A processor that has the leaf of its clock also has the
 * lower leaves, which hold its name. */
static bool has_name(void)
{
    return leaf_read(LEAF_CLOCK).d || __get_cpuid_max(NAMES & ~LOWEST, NULL) >= NAMES + NAME_LEAVES - 1;
}

static void read_name(struct processor *processor)
{
    unsigned words[LEAF_BYTES / sizeof(unsigned)];
    char name[NAME_LEAVES * LEAF_BYTES + 1] = "";
    bool named = has_name();
    for (unsigned leaf = 0; named && leaf < NAME_LEAVES; leaf++) {
        __cpuid(NAMES + leaf, words[0], words[1], words[2], words[3]);
        memcpy(name + (size_t)leaf * LEAF_BYTES, words, LEAF_BYTES);
    }
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
    __cpuid(0, a, b, c, d);
    memcpy(processor->vendor, &b, sizeof b);
    memcpy(processor->vendor + sizeof b, &d, sizeof d);
    memcpy(processor->vendor + sizeof b + sizeof d, &c, sizeof c);
    read_family(processor);
    read_name(processor);
    processor->peak = processor_peak(processor->vendor, processor->family, processor->model);
}
#else
int64_t processor_peak(const char *vendor, unsigned family, unsigned model)
{
    (void)vendor, (void)family, (void)model;
    return 0;
}

void processor_read(struct processor *processor) { memset(processor, 0, sizeof *processor); }
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

/* The C library's copy of a leaf, from glibc 2.33 on: sys/platform/x86.h, in the manual under "X86". */
struct copy {
    struct leaf found, usable;
};

typedef const struct copy *copy_function(unsigned index);

/* Converts the number of a leaf to its index in glibc's enumeration; other leaves are not needed here. */
static int index_of(unsigned number) { return number == LEAF_FEATURES ? 0 : number == LEAF_CLOCK ? 4 : -1; }

static const struct copy *copy_of(unsigned number)
{
    static copy_function *ask;
    static bool searched;
    int index = index_of(number);
    if (index >= 0 && !searched) {
        *(void **)&ask = dlsym(RTLD_DEFAULT, "__x86_get_cpuid_feature_leaf");
        searched = true;
    }
    return index >= 0 && ask ? ask((unsigned)index) : NULL;
}

struct leaf leaf_read(unsigned number)
{
    const struct copy *copy = copy_of(number);
    struct leaf leaf = {0};
    if (copy && (copy->found.a | copy->found.b | copy->found.c | copy->found.d))
        return copy->found;
    __get_cpuid(number, &leaf.a, &leaf.b, &leaf.c, &leaf.d);
    return leaf;
}
#endif
