// Sums the columns of a matrix that a file holds by rows: reads column by column, or row by row.
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <unistd.h>
#include <vector>

constexpr long rows = 1024, columns = 1024;

int main(int argc, char **argv) {
    bool cured = argc > 1 && !std::strcmp(argv[1], "twin");
    int file = open("input.bin", O_RDONLY);
    std::vector<std::uint64_t> sums(columns), row(columns);
    if (cured) {
        for (long r = 0; r < rows; r++) {
            if (pread(file, row.data(), columns * 8, r * columns * 8) != columns * 8) return 1;
            for (long c = 0; c < columns; c++) sums[c] += row[c];
        }
    } else {
        for (long c = 0; c < columns; c++)
            for (long r = 0; r < rows; r++) {
                std::uint64_t value;
                if (pread(file, &value, 8, (r * columns + c) * 8) != 8) return 1;
                sums[c] += value;
            }
    }
    std::uint64_t mix = 0;
    for (long c = 0; c < columns; c++) mix = mix * 31 + sums[c];
    std::cout << "mix " << mix << "\n";
}
