// Counts the lines and the words of a file: a byte at a time without a buffer, or with one.
#include <cctype>
#include <cstring>
#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
    bool cured = argc > 1 && !std::strcmp(argv[1], "twin");
    std::ifstream text;
    if (!cured) text.rdbuf()->pubsetbuf(nullptr, 0);
    text.open("input.txt");
    long lines = 0, words = 0;
    bool inside = false;
    for (char c; text.get(c);) {
        lines += c == '\n';
        bool letter = !std::isspace((unsigned char)c);
        words += letter && !inside;
        inside = letter;
    }
    std::cout << "lines " << lines << " words " << words << "\n";
}
