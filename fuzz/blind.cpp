// Runs a fuzz target without libFuzzer: inputs are seeds with random changes, guided by nothing.
//
//   blind SECONDS SEED FOLDER ARTIFACT
//
// The input that breaks a target is written to the file ARTIFACT.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr std::size_t longest = 4096;
// What numbers, lines and ids are made of.
constexpr std::string_view words[] = {
    "\n", " ",  "\t", "\r\n", "0",   "1",  "Q0",   "-1", "0.5",  "1e9", "nan",       "q1",
    "q2", "d1", "#",  "é",    "a#1", "日", "\xff", "\0", "1e-5", "-0",  "123456789", "12345678"};

std::string input, artifact;

void keep_input() {
    std::ofstream(artifact, std::ios::binary) << input;
}

class Mutations {
  public:
    Mutations(std::uint64_t seed, std::vector<std::string> seeds)
        : random_(seed), seeds_(std::move(seeds)) {}

    void next() {
        if (input.empty() || below(8) == 0) input = seeds_[below(seeds_.size())];
        for (std::size_t i = below(6) + 1; i > 0; --i) change();
        if (input.size() > longest) input.resize(longest);
    }

  private:
    std::size_t below(std::size_t limit) { return random_() % limit; }

    void change() {
        const std::size_t at = below(input.size() + 1), size = below(input.size() - at + 1);
        switch (below(6)) {
            case 0:
                input.erase(at, below(4) ? size % 16 : size);
                break;
            case 1:
                input.insert(at, words[below(std::size(words))]);
                break;
            case 2:
                input.insert(at, input.substr(below(input.size() + 1), below(64)));
                break;
            case 3:
                if (at < input.size()) input[at] = static_cast<char>(random_());
                break;
            case 4:
                if (at < input.size()) input[at] ^= static_cast<char>(1 << below(8));
                break;
            default:
                input.insert(at, seeds_[below(seeds_.size())].substr(0, below(200)));
        }
    }

    std::mt19937_64 random_;
    std::vector<std::string> seeds_;
};

}  // namespace

int main(int count, char** options) {
    if (count != 5) return std::fputs("blind SECONDS SEED FOLDER ARTIFACT\n", stderr), 2;
    std::vector<std::string> seeds = {"q1 0 d1 1\n"};
    for (const auto& entry : std::filesystem::directory_iterator(options[3])) {
        std::ifstream file(entry.path(), std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    artifact = options[4];
    __sanitizer_set_death_callback(keep_input);
    std::signal(SIGABRT, [](int) { keep_input(), std::_Exit(1); });
    Mutations mutations(std::strtoull(options[2], nullptr, 10), seeds);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atol(options[1]));
    std::size_t runs = 0;
    for (; runs % 64 || std::chrono::steady_clock::now() < end; ++runs) {
        mutations.next();
        LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(input.data()), input.size());
    }
    std::printf("Done %zu runs\n", runs);
}
