/* Opens an HDF5 file by its web address with the driver ros3, reads its dataset `numbers` as bytes as many
 * times as an argument says, and prints the number of bytes read. It is linked with a serial HDF5 of version
 * 1.10 or later that has the driver. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int64_t hid_t;

/* The structure H5FD_ros3_fapl_t as H5FDros3.h declares it. */
struct ros3_access {
    int32_t version;
    _Bool authenticate;
    char region[33], id[129], key[129];
};

int H5open(void);
hid_t H5Pcreate(hid_t class);
hid_t H5Fopen(const char *name, unsigned flags, hid_t access);
hid_t H5Dopen2(hid_t file, const char *name, hid_t access);
hid_t H5Dget_type(hid_t dataset);
uint64_t H5Dget_storage_size(hid_t dataset);
int H5Dread(hid_t dataset, hid_t type, hid_t memory, hid_t file, hid_t transfer, void *data);
int H5Dclose(hid_t dataset);
int H5Fclose(hid_t file);
int H5Pset_fapl_ros3(hid_t access, struct ros3_access *settings);
extern hid_t H5P_CLS_FILE_ACCESS_ID_g;

#define MUST(condition)                                                                                      \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), exit(1)))

int main(int count, char **words)
{
    struct ros3_access settings = {.version = 1};
    MUST(count == 3 && H5open() >= 0);
    hid_t access = H5Pcreate(H5P_CLS_FILE_ACCESS_ID_g);
    MUST(access >= 0 && H5Pset_fapl_ros3(access, &settings) >= 0);
    hid_t file = H5Fopen(words[1], 0, access);
    MUST(file >= 0);
    hid_t dataset = H5Dopen2(file, "numbers", 0);
    MUST(dataset >= 0);
    uint64_t bytes = H5Dget_storage_size(dataset);
    void *data = malloc(bytes);
    MUST(data);
    uint64_t times = (uint64_t)atoi(words[2]);
    for (uint64_t time = 0; time < times; time++)
        MUST(H5Dread(dataset, H5Dget_type(dataset), 0, 0, 0, data) >= 0);
    MUST(H5Dclose(dataset) >= 0 && H5Fclose(file) >= 0);
    printf("%llu\n", (unsigned long long)(times * bytes));
    return 0;
}
