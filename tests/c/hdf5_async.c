/* Makes the calls that HDF5 has had since 1.14: calls with an event set, and transfers of several datasets.
 * It prints the values that the log must have as "NAME module counter value", and on standard error the
 * address of each dataset as HDF5 says it. The declarations are written out, because most machines have
 * headers of older versions. With -DUNDER_WAY it is a library that calls every event set busy. Usage:
 * hdf5_async FOLDER [event-set]. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int64_t hid_t;

#ifdef UNDER_WAY

int H5ESget_count(hid_t events, size_t *count)
{
    (void)events;
    *count = 1;
    return 0;
}

#else

#define PLACE      "hdf5_async.c", "main", 1
#define WHERE_TYPE const char *, const char *, unsigned

hid_t H5Fcreate_async(WHERE_TYPE, const char *, unsigned, hid_t, hid_t, hid_t);
hid_t H5Fopen_async(WHERE_TYPE, const char *, unsigned, hid_t, hid_t);
int H5Fflush_async(WHERE_TYPE, hid_t, int, hid_t), H5Fclose_async(WHERE_TYPE, hid_t, hid_t);
hid_t H5Dcreate_async(WHERE_TYPE, hid_t, const char *, hid_t, hid_t, hid_t, hid_t, hid_t, hid_t);
hid_t H5Dopen_async(WHERE_TYPE, hid_t, const char *, hid_t, hid_t);
hid_t H5Oopen_async(WHERE_TYPE, hid_t, const char *, hid_t, hid_t);
hid_t H5Oopen_by_idx_async(WHERE_TYPE, hid_t, const char *, int, int, unsigned long long, hid_t, hid_t);
int H5Dread_async(WHERE_TYPE, hid_t, hid_t, hid_t, hid_t, hid_t, void *, hid_t);
int H5Dwrite_async(WHERE_TYPE, hid_t, hid_t, hid_t, hid_t, hid_t, const void *, hid_t);
int H5Dclose_async(WHERE_TYPE, hid_t, hid_t), H5Oclose_async(WHERE_TYPE, hid_t, hid_t);
int H5Dread_multi(size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, void **);
int H5Dwrite_multi(size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, const void **);
int H5Dread_multi_async(WHERE_TYPE, size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, void **, hid_t);
int H5Dwrite_multi_async(WHERE_TYPE, size_t, hid_t *, hid_t *, hid_t *, hid_t *, hid_t, const void **, hid_t);
hid_t H5Screate_simple(int, const unsigned long long *, const unsigned long long *), H5EScreate(void);
int H5Sselect_hyperslab(hid_t, int, const unsigned long long *, const unsigned long long *,
                        const unsigned long long *, const unsigned long long *);
unsigned long H5Dget_offset(hid_t);
int H5Sclose(hid_t), H5ESclose(hid_t), H5open(void);
extern hid_t H5T_NATIVE_DOUBLE_g;

enum { TRUNCATE = 2, READ_WRITE = 1, SHORT = 1000, LONG = 3000, PART = 500 };

static hid_t good(hid_t value)
{
    if (value < 0) {
        fprintf(stderr, "hdf5_async: a call failed\n");
        exit(1);
    }
    return value;
}

static void expect(const char *name, const char *module, const char *counter, long long value)
{
    printf("/async.h5%s %s %s_%s %lld\n", name, module, module, counter, value);
}

static void expected(void)
{
    expect("", "H5F", "OPENS", 2);
    expect("", "H5F", "FLUSHES", 1);
    expect("", "H5F", "USE_MPIIO", 0);
    expect(":/short", "H5D", "OPENS", 3);
    expect(":/short", "H5D", "WRITES", 3);
    expect(":/short", "H5D", "READS", 2);
    expect(":/short", "H5D", "BYTES_WRITTEN", 8LL * (SHORT + SHORT + SHORT));
    expect(":/short", "H5D", "BYTES_READ", 8LL * (SHORT + PART));
    expect(":/short", "H5D", "RW_SWITCHES", 1);
    expect(":/short", "H5D", "REGULAR_HYPERSLAB_SELECTS", 1);
    expect(":/short", "H5D", "DATASPACE_NPOINTS", SHORT);
    expect(":/short", "H5D", "DATATYPE_SIZE", 8);
    expect(":/short", "H5D", "USE_DEPRECATED", 0);
    expect(":/long", "H5D", "OPENS", 2);
    expect(":/long", "H5D", "WRITES", 2);
    expect(":/long", "H5D", "READS", 2);
    expect(":/long", "H5D", "BYTES_WRITTEN", 8LL * 2 * LONG);
    expect(":/long", "H5D", "BYTES_READ", 8LL * 2 * LONG);
    expect(":/long", "H5D", "RW_SWITCHES", 1);
    expect(":/long", "H5D", "REGULAR_HYPERSLAB_SELECTS", 0);
    expect(":/long", "H5D", "SIZE_WRITE_AGG_10K_100K", 2);
}

int main(int argc, char **argv)
{
    static double data[2][LONG];
    char path[4096];
    unsigned long long sizes[] = {SHORT, LONG}, begin = 100, count = PART;
    snprintf(path, sizeof path, "%s/async.h5", argv[1]);
    good(H5open());
    hid_t events = argc > 2 ? good(H5EScreate()) : 0, type = H5T_NATIVE_DOUBLE_g;
    hid_t space[] = {H5Screate_simple(1, &sizes[0], NULL), H5Screate_simple(1, &sizes[1], NULL)};
    hid_t part = H5Screate_simple(1, &sizes[0], NULL), memory = H5Screate_simple(1, &count, NULL);
    H5Sselect_hyperslab(part, 0, &begin, NULL, &count, NULL);
    hid_t file = good(H5Fcreate_async(PLACE, path, TRUNCATE, 0, 0, events)), set[2], types[] = {type, type};
    for (int i = 0; i < 2; i++)
        set[i] = good(H5Dcreate_async(PLACE, file, i ? "long" : "short", type, space[i], 0, 0, 0, events));
    hid_t all[] = {0, 0}, some[] = {part, 0}, memories[] = {memory, 0};
    const void *from[] = {data[0], data[1]};
    void *to[] = {data[0], data[1]};
    good(H5Dwrite_async(PLACE, set[0], type, 0, 0, 0, data[0], events));
    good(H5Dwrite_multi(2, set, types, all, all, 0, from));
    good(H5Dwrite_multi_async(PLACE, 2, set, types, all, all, 0, from, events));
    good(H5Dread_multi(2, set, types, memories, some, 0, to));
    good(H5Dread_multi_async(PLACE, 1, set + 1, types, all, all, 0, to, events));
    good(H5Dread_async(PLACE, set[0], type, 0, 0, 0, data[0], events));
    good(H5Fflush_async(PLACE, file, 0, events));
    for (int i = 0; i < 2; i++) {
        fprintf(stderr, "address /%s %lu\n", i ? "long" : "short", H5Dget_offset(set[i]));
        good(H5Dclose_async(PLACE, set[i], events));
    }
    good(H5Fclose_async(PLACE, file, events));
    file = good(H5Fopen_async(PLACE, path, READ_WRITE, 0, events));
    good(H5Dclose_async(PLACE, good(H5Dopen_async(PLACE, file, "short", 0, events)), events));
    good(H5Oclose_async(PLACE, good(H5Oopen_async(PLACE, file, "short", 0, events)), events));
    good(H5Oclose_async(PLACE, good(H5Oopen_by_idx_async(PLACE, file, ".", 0, 0, 0, 0, events)), events));
    good(H5Fclose_async(PLACE, file, events));
    H5Sclose(space[0]), H5Sclose(space[1]), H5Sclose(part), H5Sclose(memory);
    if (events)
        H5ESclose(events);
    expected();
    return 0;
}

#endif
