// Runs a fuzz target where there is no libFuzzer: seeds are changed at random, guided by nothing.
//
//     target SECONDS FOLDER [SEED]
//
// An input that ends the process is written to TARGET.input.
#include <sanitizer/common_interface_defs.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);

namespace {

std::mt19937_64 rng;
std::string input, text;  // where the input at hand would be written, and the input

void write_input() {
    std::ofstream(input, std::ios::binary) << text;
}

std::size_t below(std::size_t limit) {
    return limit ? rng() % limit : 0;
}

// Signs that mean something to one of the readers.
const std::string signs = "\"\\,;\t|\n\r {}[]:-+.0159eEqdslrxu#\xc3\xa9\xff";

void change(const std::vector<std::string>& seeds) {
    const std::size_t at = below(text.size() + 1),
                      count = below(std::min<std::size_t>(text.size() - at, 20) + 1);
    switch (below(6)) {
        case 0:
            text.erase(at, count);
            break;
        case 1:
            text.insert(at, 1, signs[below(signs.size())]);
            break;
        case 2:
            if (at < text.size()) text[at] = signs[below(signs.size())];
            break;
        case 3:
            if (at < text.size()) text[at] = static_cast<char>(rng());
            break;
        case 4:
            text.insert(at, text.substr(below(text.size() + 1), 1 + below(60)));
            break;
        default: {
            const std::string& other = seeds[below(seeds.size())];
            text.insert(at, other.substr(below(other.size() + 1), 1 + below(60)));
        }
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) return 2;
    const double seconds = std::atof(words[1]);
    rng.seed(count > 3 ? std::strtoull(words[3], nullptr, 10) : std::random_device()());
    std::vector<std::string> seeds = {""};
    for (const auto& entry : std::filesystem::directory_iterator(words[2])) {
        std::ifstream file(entry.path(), std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    input = std::string(words[0]) + ".input";
    __sanitizer_set_death_callback(write_input);
    std::signal(SIGABRT, [](int) { write_input(); });
    const auto begun = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    };
    std::size_t runs = 0;
    for (; elapsed() < seconds; ++runs) {
        text = seeds[below(seeds.size())];
        for (std::size_t changes = below(8); changes > 0; --changes) change(seeds);
        if (text.size() > 4096) text.resize(4096);
        LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    std::printf("Done %zu runs in %.0f seconds\n", runs, elapsed());
    return 0;
}
