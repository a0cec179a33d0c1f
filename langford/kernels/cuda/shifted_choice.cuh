// Which joint rows a (high, low) of v and an image have, and their union.
#pragma once

#include "shifted_rows.cuh"

// For each pair of groups two halves of a word: in bytes from the group's first line on.
struct Chosen {
    u32 pair[(GROUPS + 1) / 2];
};

// Halves minus BIAS, at most `most`; what is negative is beyond it.
__device__ inline u32 clamped(u32 halves, u32 minus_bias, u32 most) {
#ifdef LANGFORD_HOST
    u32 made = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const u32 row = (halves >> shift) + (minus_bias >> shift) & 0xFFFF, last = most >> shift & 0xFFFF;
        made |= (row < last ? row : last) << shift;
    }
    return made;
#else
    return __viaddmin_u16x2(halves, minus_bias, most);
#endif
}

__device__ inline u32 odd_bytes(u32 word) {
#ifdef LANGFORD_HOST
    return word >> 8 & 0x00FF00FF;
#else
    return __byte_perm(word, 0, 0x4341);
#endif
}

// The numbers of part k of the bytes: of two places, 0 in a half that has none.
template <int PART> __device__ inline u32 numbers(const u32 *sum, u32 minus_bias) {
    constexpr u32 most = layout().most[PART];
    const u32 word = sum[PART / 2];
    return clamped(PART % 2 ? odd_bytes(word) : word & 0x00FF00FF, minus_bias, most);
}

// Adds the numbers of places K … of groups G and G + 1, each times its stride; where the group is alone, two of its
// places are in a part.
template <int G, int K> __device__ inline u32 add_numbers(u32 at, const u32 *sum, u32 minus_bias) {
    constexpr int BYTES = 16 * LINE;
    if constexpr (K >= GROUP_SIZE[G]) return at;
    else if constexpr (alone(G)) {
        const u32 both = numbers<first_part(G) + K / 2>(sum, minus_bias);
        at += both * (BYTES * stride(G, K));
        // No bit of the lower half is left.
        if constexpr (K + 1 < GROUP_SIZE[G]) at += (both >> 16) * (BYTES * stride(G, K + 1));
        return add_numbers<G, K + 2>(at, sum, minus_bias);
    } else {
        constexpr int other = K < GROUP_SIZE[G + 1] ? stride(G + 1, K) : 0;
        static_assert(other == 0 || other == stride(G, K), "both groups of a pair have the same strides");
        at += numbers<first_part(G) + K>(sum, minus_bias) * (BYTES * stride(G, K));
        return add_numbers<G, K + 1>(at, sum, minus_bias);
    }
}
template <int G> __device__ inline void choose_from(Chosen &chosen, const u32 *sum, u32 minus_bias, u32 column) {
    if constexpr (G < GROUPS) {
        chosen.pair[G / 2] = add_numbers<G, 0>(column * 0x10001u, sum, minus_bias);
        choose_from<G + 2>(chosen, sum, minus_bias, column);
    }
}

// column: added to all; below 2^16 with the largest address.
template <int LOW> __device__ inline Chosen choose_rows(const Bytes &high, u32 low, u32 minus_bias, u32 column) {
    u32 sum[ODD_WORDS];
    for (int k = 0; k < 4; k++) sum[k] = high.word[k];
    const Bits bytes = load_bits<LOW>(low);
#pragma unroll
    for (int k = 0; k < 4; k++) sum[k] += bytes.word[k];
    if constexpr (ODD_WORDS > 4) {
        const Bits more = load_bits<LOW + 16>(low);
        for (int k = 4; k < ODD_WORDS; k++) sum[k] = high.word[k] + more.word[k - 4];
    }
    Chosen chosen;
    choose_from<0>(chosen, sum, minus_bias, column);
    return chosen;
}

// Unites what was chosen of group G and all behind it, one half of a row of 256.
template <int G> __device__ inline void unite_rows(Bits &dead, const Chosen &chosen, u32 half) {
    if constexpr (G < GROUPS) {
        constexpr int line = group_line(G);
        const u32 pair = chosen.pair[G / 2], address = (G % 2 ? pair >> 16 : pair & 0xFFFF) ^ half;
        unite(dead, load_bits<line * LINE * 16>(address));
        unite_rows<G + 1>(dead, chosen, half);
    }
}
