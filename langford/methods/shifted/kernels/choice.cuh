// Which joint rows four rows of v's and an image have, and their unions.
//
// Member m of the four has the first of u's two bits set if m is odd, the second if m > 1 (places.cuh).
#include "rows.cuh"

constexpr int MEMBERS = 4;

// The members for which a pair of groups is chosen: all, the first and the last (a group that depends on one bit
// has both values there), or one.
__device__ constexpr int choices_of(int g) { return kind(g) == 3 ? 4 : kind(g) ? 2 : 1; }
__device__ constexpr int member_of(int g, int choice) { return kind(g) == 3 ? choice : 3 * choice; }
__device__ constexpr int choice_of(int g, int member) {
    return kind(g) == 3 ? member : kind(g) == 2 ? member / 2 : kind(g) ? member % 2 : 0;
}
__device__ constexpr int first_choice(int g) { return g > 1 ? first_choice(g - 2) + choices_of(g / 2 * 2 - 2) : 0; }
// The words with bytes of places for which all members are told apart, a bit for each.
__device__ constexpr u32 apart_words() {
    u32 words = 0;
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < GROUP_SIZE[g]; k++)
            if (kind(g) == 3) words |= 1u << byte_of(g, k) / 4;
    return words;
}
constexpr u32 APART_WORDS = apart_words();
constexpr int CHOSEN = first_choice(GROUPS - 1) + choices_of(GROUPS - 1);

// For each pair of groups and choice two halves of a word: in bytes from the group's first line on.
struct Chosen {
    u32 pair[CHOSEN];
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
template <int G>
__device__ inline void choose_from(Chosen &chosen, const u32 (*sum)[ODD_WORDS], u32 minus_bias, u32 column) {
    if constexpr (G < GROUPS) {
#pragma unroll
        for (int choice = 0; choice < choices_of(G); choice++)
            chosen.pair[first_choice(G) + choice] =
                add_numbers<G, 0>(column * 0x10001u, sum[member_of(G, choice)], minus_bias);
        choose_from<G + 2>(chosen, sum, minus_bias, column);
    }
}

template <int OFFSET> __device__ inline Bytes load_bytes(u32 address) {
    Bytes bytes;
    const Bits first = load_bits<OFFSET>(address);
    for (int k = 0; k < 4; k++) bytes.word[k] = first.word[k];
    if constexpr (ODD_WORDS > 4) {
        const Bits more = load_bits<OFFSET + 16>(address);
        for (int k = 4; k < ODD_WORDS; k++) bytes.word[k] = more.word[k - 4];
    }
    return bytes;
}

// What u's two bits add; where no place needs it for one bit alone, it is all in the second.
struct Turns {
    Bytes first, second;
};
__device__ inline Turns load_turns(u32 at) {
    Turns turns = {load_bytes<0>(at), load_bytes<SLOTS * sizeof(Bytes)>(at)};
    for (int k = 0; k < ODD_WORDS; k++)
        if (!(APART_WORDS >> k & 1)) {
            turns.second.word[k] += turns.first.word[k];
            turns.first.word[k] = 0;
        }
    return turns;
}

// high, low: addresses.  column: added to all; below 2^16 with the largest address.
__device__ inline Chosen choose_rows(u32 high, u32 low, const Turns &turns, u32 minus_bias, u32 column) {
    const Bytes of_high = load_bytes<0>(high), of_low = load_bytes<0>(low);
    u32 sum[MEMBERS][ODD_WORDS];
    for (int k = 0; k < ODD_WORDS; k++) {
        sum[0][k] = of_high.word[k] + of_low.word[k];
        sum[1][k] = sum[0][k] + turns.first.word[k];
        sum[2][k] = sum[0][k] + turns.second.word[k];
        sum[3][k] = sum[1][k] + turns.second.word[k];
    }
    Chosen chosen;
    choose_from<0>(chosen, sum, minus_bias, column);
    return chosen;
}

// Half a joint row of group G.
template <int G> __device__ inline Bits chosen_row(const Chosen &chosen, int choice) {
    constexpr int line = group_line(G);
    const u32 pair = chosen.pair[first_choice(G) + choice];
    return load_bits<line * LINE * 16>(G % 2 ? pair >> 16 : pair & 0xFFFF);
}

// Unites what was chosen of the groups of a kind from G on: with all members, or with those that its bits tell apart.
template <int KIND, int COUNT, int G = 0> __device__ inline void unite_rows(Bits (&dead)[COUNT], const Chosen &chosen) {
    if constexpr (G < GROUPS) {
        if constexpr (kind(G) == KIND) {
#pragma unroll
            for (int choice = 0; choice < choices_of(G); choice++) {
                const Bits row = chosen_row<G>(chosen, choice);
#pragma unroll
                for (int k = 0; k < COUNT; k++)
                    if ((COUNT == MEMBERS ? choice_of(G, k) : k) == choice) unite(dead[k], row);
            }
        }
        unite_rows<KIND, COUNT, G + 1>(dead, chosen);
    }
}
