// A class for messages that opens its file in each call, or once.
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

struct Logger {
    bool keep;
    std::ofstream kept;
    void message(const std::string &text) {
        if (keep) {
            if (!kept.is_open()) kept.open("run.log", std::ios::app);
            kept << text << '\n';
        } else {
            std::ofstream log("run.log", std::ios::app);
            log << text << '\n';
        }
    }
};

int main(int argc, char **argv) {
    Logger logger{argc > 1 && !std::strcmp(argv[1], "twin"), {}};
    for (int i = 0; i < 170000; i++) logger.message("iteration " + std::to_string(i) + " converged");
    std::cout << "messages 170000\n";
}
