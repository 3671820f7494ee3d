// Writes a table of values and ends each line with endl, or with a newline.
#include <cstring>
#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
    bool cured = argc > 1 && !std::strcmp(argv[1], "twin");
    std::ofstream table("table.txt");
    for (int i = 0; i < 600000; i++)
        if (cured)
            table << i << ' ' << i * 7 % 1013 << '\n';
        else
            table << i << ' ' << i * 7 % 1013 << std::endl;
    std::cout << "lines 600000\n";
}
