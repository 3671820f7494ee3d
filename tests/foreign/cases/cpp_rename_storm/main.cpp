// A queue of tasks as files that are made, renamed and removed, or a queue in memory.
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace fs = std::filesystem;

int main(int argc, char **argv) {
    bool cured = argc > 1 && !std::strcmp(argv[1], "twin");
    std::deque<int> queue;
    fs::create_directory("new");
    fs::create_directory("done");
    long sum = 0;
    for (int i = 0; i < 1200; i++) {
        if (cured) {
            queue.push_back(i);
            sum += queue.front();
            queue.pop_front();
            continue;
        }
        std::string name = "task" + std::to_string(i);
        fs::create_directory("new/" + name);
        std::ofstream("new/" + name + "/input") << i;
        fs::rename("new/" + name, "done/" + name);
        int read = 0;
        std::ifstream("done/" + name + "/input") >> read;
        sum += read;
        fs::remove("done/" + name + "/input");
        fs::remove("done/" + name);
    }
    std::cout << "sum " << sum << "\n";
}
