#include "ranking/draw.hpp"

#include <cstring>
#include <string>

#include "text/json.hpp"

namespace idealist {

namespace {

// BLAKE2b (RFC 7693) without a key, for messages that are wholly in memory.
using State = std::array<std::uint64_t, 8>;
using Words = std::array<std::uint64_t, 16>;

constexpr State start = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                         0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                         0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr unsigned char schedule[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                            {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                            {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                            {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                            {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                            {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                            {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                            {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                            {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                            {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
constexpr std::size_t block = 128;

std::uint64_t rotated(std::uint64_t word, int bits) {
    return word >> bits | word << (64 - bits);
}

void stir(Words& v, int a, int b, int c, int d, std::uint64_t x, std::uint64_t y) {
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

std::uint64_t little_endian(const unsigned char* bytes) {
    std::uint64_t word = 0;
    for (int i = 7; i >= 0; --i) word = word << 8 | bytes[i];
    return word;
}

void compress(State& h, const unsigned char* bytes, std::uint64_t counted, bool last) {
    Words v, m;
    for (int i = 0; i < 8; ++i) v[i] = h[i], v[i + 8] = start[i];
    for (int i = 0; i < 16; ++i) m[i] = little_endian(bytes + 8 * i);
    v[12] ^= counted;
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 12; ++round) {
        const unsigned char* s = schedule[round % 10];
        for (int i = 0; i < 4; ++i) stir(v, i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
        for (int i = 0; i < 4; ++i)
            stir(v, i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12, m[s[2 * i + 8]],
                 m[s[2 * i + 9]]);
    }
    for (int i = 0; i < 8; ++i) h[i] ^= v[i] ^ v[i + 8];
}

Digest blake2b(const std::string& message) {
    State h = start;
    Digest digest;
    h[0] ^= 0x01010000 ^ digest.size();
    const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    std::size_t done = 0;
    for (; message.size() - done > block; done += block)
        compress(h, bytes + done, done + block, false);
    unsigned char rest[block] = {};
    std::memcpy(rest, bytes + done, message.size() - done);
    compress(h, rest, message.size(), true);
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<unsigned char>(h[i / 8] >> (8 * (i % 8)));
    return digest;
}

}  // namespace

Digest draw(std::string_view seed, std::string_view query, std::string_view document) {
    std::string json = "[";
    add_json(json, seed);
    json += ", ";
    add_json(json, query);
    json += ", ";
    add_json(json, document);
    json += ']';
    return blake2b(json);
}

}  // namespace idealist
