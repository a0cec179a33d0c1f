// Points: one of a mask of 128, its number, and its odd factors.
#pragma once

#include "shifted_rows.cuh"

// A point is an image and a v of the tile (its row and its place there) as one number; a tag is that of its 128 points.
constexpr int SLOT_SHIFT = TILE_BITS, ROW_SHIFT = INNER_BITS;

constexpr u32 NO_FACTOR = 0x80808080;       // bytes that all stand for 0
constexpr Bits ALL_DEAD = {~0u, ~0u, ~0u, ~0u};

// One point that is not dead, of a mask that has any: its number, and the mask with it dead.
__device__ inline u32 take_point(Bits &dead, u32 tag) {
    const bool first = ~dead.word[0], second = !first && ~dead.word[1], third = !first && !second && ~dead.word[2];
    const bool fourth = !first && !second && !third;
    const u32 word = first ? dead.word[0] : second ? dead.word[1] : third ? dead.word[2] : dead.word[3];
    const u32 bit = 31 - __clz(int(~word)), rest = word | 1u << bit;
    if (first) dead.word[0] = rest;
    if (second) dead.word[1] = rest;
    if (third) dead.word[2] = rest;
    if (fourth) dead.word[3] = rest;
    return tag + (first ? 0 : second ? 32 : third ? 64 : 96) + bit;
}
__device__ inline bool any_living(const Bits &dead) { return ~(dead.word[0] & dead.word[1] & dead.word[2] & dead.word[3]); }
// The odd factors at a point; the address is that of the tables.
__device__ inline Bytes odd_at(u32 address, u32 point) {
    constexpr int HIGH_SIZE = sizeof(Bytes), COUNT_SIZE = sizeof(HalfBytes);
    const u32 slot = point >> SLOT_SHIFT, high = slot * (HIGH + 1) + (point >> INNER_BITS + LOW_BITS & (1 << HIGH_BITS) - 1);
    const u32 counts_at = address + slot * sizeof(Counts);
    const u32 low_at = counts_at + (point >> INNER_BITS & (1 << LOW_BITS) - 1) * COUNT_SIZE;
    const u32 first_at = counts_at + (point & 15) * COUNT_SIZE, second_at = counts_at + (point >> 4 & 15) * COUNT_SIZE;
    Bytes odd;
#pragma unroll
    for (int k = 0; k < ODD_WORDS / 4; k++) {
        const Bits bytes = k ? load_bits<HIGHS + 16>(address + high * HIGH_SIZE) : load_bits<HIGHS>(address + high * HIGH_SIZE);
        const Pair low = k ? load_pair<LOW_COUNTS + 8>(low_at) : load_pair<LOW_COUNTS>(low_at);
        const Pair first = k ? load_pair<FIRST_COUNTS + 8>(first_at) : load_pair<FIRST_COUNTS>(first_at);
        const Pair second = k ? load_pair<SECOND_COUNTS + 8>(second_at) : load_pair<SECOND_COUNTS>(second_at);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const u32 sum = low.word[half] + first.word[half] + second.word[half];
            odd.word[4 * k + 2 * half] = bytes.word[2 * half] + (sum & 0x0F0F0F0F);
            odd.word[4 * k + 2 * half + 1] = bytes.word[2 * half + 1] + (sum >> 4 & 0x0F0F0F0F);
        }
    }
    return odd;
}
