// Reads a text file line by line through the default buffer and counts its keys.
#include <fstream>
#include <iostream>
#include <string>
#include <unordered_map>

int main() {
    std::ifstream input("input.txt");
    std::unordered_map<std::string, long> counts;
    for (std::string line; std::getline(input, line);) counts[line.substr(0, line.find(' '))]++;
    std::cout << "keys " << counts.size() << "\n";
}
