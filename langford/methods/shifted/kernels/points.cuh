// Points: one of a mask of 128, its number, and its odd factors.
#include "rows.cuh"

// A point is an image and a v of the tile (its row and its place there) as one number; a tag is that of its 128 points.
constexpr int SLOT_SHIFT = TILE_BITS, ROW_SHIFT = INNER_BITS;

constexpr u32 NO_FACTOR = 0x80808080;       // bytes that all stand for 0
constexpr Bits ALL_DEAD = {~0u, ~0u, ~0u, ~0u};

// One point that is not dead, of a mask that has any: its number, and the mask with it dead.  When the first two words
// have none, the last two come in their place, and the tag says so.
__device__ inline u32 take_point(Bits &dead, u32 &tag) {
    if (!~(dead.word[0] & dead.word[1])) {
        dead = {dead.word[2], dead.word[3], ~0u, ~0u};
        tag += 64;
    }
    const bool second = !~dead.word[0];
    const u32 word = second ? dead.word[1] : dead.word[0];
    const u32 bit = 31 - __clz(int(~word)), rest = word | 1u << bit;
    dead.word[0] = second ? ~0u : rest;
    if (second) dead.word[1] = rest;
    return tag + bit + (second ? 32 : 0);
}
// All ones where no point of a mask lives.
__device__ inline u32 all_dead(const Bits &dead) { return dead.word[0] & dead.word[1] & dead.word[2] & dead.word[3]; }
__device__ inline bool any_living(const Bits &dead) { return all_dead(dead) != ~0u; }
// The odd factors at a point; the address is that of the tables.
__device__ inline Bytes odd_at(u32 address, u32 point) {
    constexpr int HIGH_SIZE = sizeof(Bytes), COUNT_SIZE = sizeof(HalfBytes);
    const u32 slot = point >> SLOT_SHIFT, high = slot * (HIGH + 1) + (point >> LOWER_BITS & (1 << HIGH_BITS) - 1);
    const u32 counts_at = address + slot * sizeof(Counts);
    const u32 second_at = counts_at + (point >> FIRST_BITS & (1 << SECOND_BITS) - 1) * COUNT_SIZE;
    const u32 first_at = counts_at + (point & (1 << FIRST_BITS) - 1) * COUNT_SIZE;
    Bytes odd;
#pragma unroll
    for (int k = 0; k < ODD_WORDS / 4; k++) {
        const Bits bytes = k ? load_bits<HIGHS + 16>(address + high * HIGH_SIZE) : load_bits<HIGHS>(address + high * HIGH_SIZE);
        const Pair first = k ? load_pair<FIRST_COUNTS + 8>(first_at) : load_pair<FIRST_COUNTS>(first_at);
        const Pair second = k ? load_pair<SECOND_COUNTS + 8>(second_at) : load_pair<SECOND_COUNTS>(second_at);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const u32 sum = first.word[half] + second.word[half];
            odd.word[4 * k + 2 * half] = bytes.word[2 * half] + (sum & 0x0F0F0F0F);
            odd.word[4 * k + 2 * half + 1] = bytes.word[2 * half + 1] + (sum >> 4 & 0x0F0F0F0F);
        }
    }
    return odd;
}
