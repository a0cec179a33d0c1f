// The tables of one u for the filter, in shared memory: rows of 256 bits where odd forms vanish, and bytes that
// say which row a v has, and what the forms are at it.
//
// A v of the tile is (high | low | inner) bits.  For fixed u an odd form is a sum over the bits of v.  The high and
// low bits say at which sum over the inner bits it vanishes; WINDOW of these sums have a row, others have
// the empty row.  Forms are joined in groups of up to three.  Four images of a pair are done together: (u, v),
// u backwards, v backwards, both; without symmetry (IMAGES = 1) the four are the same.
#pragma once

#include "shifted_forms.cuh"

constexpr int HIGH_BITS = TILE_BITS - INNER_BITS - LOW_BITS, HIGH = HIGH_BITS > 3 ? 1 << HIGH_BITS : 8;
constexpr int SLOTS = 4;                       // images
constexpr int GROUPS = (FORMS + 2) / 3;
constexpr int PICKS = WINDOW + 1;              // rows of a form, with the empty one
constexpr int LINE = 8;                        // blocks of 16 bytes that the row of all images takes

__device__ constexpr int group_size(int g) { return FORMS / GROUPS + (g < FORMS % GROUPS); }
__device__ constexpr int group_first(int g) { return g ? group_first(g - 1) + group_size(g - 1) : 0; }
__device__ constexpr int power(int base, int exponent) { return exponent ? base * power(base, exponent - 1) : 1; }
__device__ constexpr int group_line(int g) { return g ? group_line(g - 1) + power(PICKS, group_size(g - 1)) : 0; }
constexpr int LINES = group_line(GROUPS);

// Bytes of forms.  Two groups are chosen from together, as the halves of a word: their forms lie so that
// masks 00FF00FF of a word, and of the word shifted by 8 bits, give form k of both.
__device__ constexpr bool alone(int g) { return g == GROUPS - 1 && GROUPS % 2; }
__device__ constexpr int first_part(int g) {   // 16-bit parts of 8 bits each, before the pair of g
    int parts = 0;
    for (int before = 0; before < g / 2; before++) parts += group_size(2 * before);
    return parts;
}
__device__ constexpr int byte_of(int g, int k) {
    const int part = first_part(g) + (alone(g) ? k / 2 : k), half = alone(g) ? k % 2 : g % 2;
    return part / 2 * 4 + part % 2 + 2 * half;
}
constexpr signed char NONE = -1, BITS_OF_V = -2;
constexpr bool COUNTS_BITS = FORMS < 4 * ODD_WORDS;   // the last byte says how many bits of v are set
struct Layout {
    signed char form[4 * ODD_WORDS];   // in each byte, or NONE
};
__device__ constexpr Layout layout() {
    Layout made = {};
    for (int k = 0; k < 4 * ODD_WORDS; k++) made.form[k] = NONE;
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < group_size(g); k++) made.form[byte_of(g, k)] = group_first(g) + k;
    if (COUNTS_BITS) made.form[4 * ODD_WORDS - 1] = BITS_OF_V;
    return made;
}
__constant__ Layout form_in = layout();

// 128 bits.
struct alignas(16) Bits {
    u32 word[4];
};
__device__ inline void unite(Bits &bits, const Bits &more) {
    for (int k = 0; k < 4; k++) bits.word[k] |= more.word[k];
}

// A byte for each odd form.  Those of the high and the low bits of a v add up to BIAS plus the row of its window;
// with those of the two halves of its inner bits to 128 minus the form.
struct alignas(16) Bytes {
    u32 word[ODD_WORDS];
};
constexpr int HIGH_START = 80, LOW_START = 24, HALF_START = 12, BIAS = HIGH_START + LOW_START;
static_assert(BIAS + 2 * HALF_START == 128, "bytes hold signed numbers from 128 on");

struct Tables {
    Bits joint[LINES * LINE];
    Bytes high[HIGH * SLOTS], low[(1 << LOW_BITS) * SLOTS], half[2 * 16 * SLOTS];
    u32 plus[FORMS][SLOTS], minus[FORMS][SLOTS];   // packed bits that add and take 1
    int window[FORMS][SLOTS], start[FORMS][SLOTS];   // first inner sum with a row; value with no free bit set
};

// The forms of u as packed masks, and their windows; the first one with the opposite sign if `negative`.
// fixed: elements that are −1 in the whole tile.
__device__ inline void find_masks(Tables &tables, i64 u, i64 fixed, int bits, bool negative) {
    for (int k = threadIdx.x; k < FORMS * SLOTS; k += THREADS) {
        const int f = k / SLOTS, slot = k % SLOTS;
        Linear form = linear_form(IMAGES > 1 && slot & 1 ? backwards(u, U) : u, f);
        if (IMAGES > 1 && slot & 2) form = {backwards(form.plus, V), backwards(form.minus, V), form.start};
        if (negative && f == 0) form = {form.minus, form.plus, -form.start};
        const int start = form.start + __popcll(fixed & form.plus) - __popcll(fixed & form.minus);
        u32 plus = 0, minus = 0;
        for (int bit = 0; bit < bits; bit++) {
            plus |= u32(form.plus >> elements[V][bit] & 1) << bit;
            minus |= u32(form.minus >> elements[V][bit] & 1) << bit;
        }
        const int up = __popc(plus & 255), down = __popc(minus & 255);
        const int outer_up = __popc(plus) - up, outer_down = __popc(minus) - down;
        // The inner sums that most often meet the opposite of the outer one.
        const int inner = up + down, outer = outer_up + outer_down;
        const float needed = -start - 0.5f * (outer_up - outer_down), middle = 0.5f * (up - down);
        const float likely = middle + (needed - middle) * inner / (inner + outer ? inner + outer : 1);
        int first = int(floorf(likely - 0.5f * (WINDOW - 1) + 0.5f));
        if (first > up - WINDOW + 1) first = up - WINDOW + 1;
        if (first < -down) first = -down;
        tables.plus[f][slot] = plus;
        tables.minus[f][slot] = minus;
        tables.window[f][slot] = first;
        tables.start[f][slot] = start;
    }
}

// single [FORMS][PICKS][LINE]: the rows of each form.
__device__ inline void fill_single_rows(const Tables &tables, Bits *single) {
    for (int k = threadIdx.x; k < FORMS * SLOTS * 8; k += THREADS) {
        const int word = k % 8, slot = k / 8 % SLOTS, f = k / (8 * SLOTS);
        const u32 plus = tables.plus[f][slot], minus = tables.minus[f][slot];
        // How many of the five lowest bits count, bit by bit, at the 32 v's of a word.
        const u32 pattern[5] = {0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000};
        u32 in[5];
        for (int b = 0; b < 5; b++) in[b] = pattern[b] & -(plus >> b & 1) | ~pattern[b] & -(minus >> b & 1);
        const u32 sum = in[0] ^ in[1] ^ in[2], carry = in[0] & in[1] | in[2] & (in[0] | in[1]);
        const u32 ones = sum ^ in[3] ^ in[4], more = sum & in[3] | in[4] & (sum | in[3]);
        const u32 twos = carry ^ more, fours = carry & more;
        const u32 above = plus >> 5 & 7, below = minus >> 5 & 7;
        int count = tables.window[f][slot] + __popc(minus & 255) - __popc(word & above) - __popc(~word & below);
        u32 *row = single[f * PICKS * LINE + 2 * slot].word + word;
        for (int j = 0; j < PICKS; j++, count++) {
            const u32 equal = (ones ^ (count & 1) - 1) & (twos ^ (count >> 1 & 1) - 1) & (fours ^ (count >> 2 & 1) - 1);
            row[j * LINE * 4] = j < WINDOW && u32(count) < 6 ? equal : 0;
        }
    }
}

// Eight entries of a table of bytes, from entry 8 · top on: `start` and what the bits from `shift` on take away.
template <class Start>
__device__ inline void fill_bytes(const Tables &tables, Bytes *table, int shift, int top, int slot, int word, Start start) {
    u32 first = 0, step[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        const int f = form_in.form[4 * word + k];
        const u32 plus = f >= 0 ? tables.plus[f][slot] >> shift : 0;
        const u32 minus = f >= 0 ? tables.minus[f][slot] >> shift : f == BITS_OF_V ? ~0u : 0;
        const int value = start(f) + __popc(8 * top & minus) - __popc(8 * top & plus);
        first += u32(value) << 8 * k;
        for (int b = 0; b < 3; b++) step[b] += u32(int(minus >> b & 1) - int(plus >> b & 1)) << 8 * k;
    }
#pragma unroll
    for (int k = 0; k < 8; k++)
        table[(8 * top + k) * SLOTS + slot].word[word] =
            first + (k & 1 ? step[0] : 0) + (k & 2 ? step[1] : 0) + (k & 4 ? step[2] : 0);
}

__device__ inline void fill_byte_tables(Tables &tables) {
    constexpr int HIGH_TOPS = HIGH / 8, LOW_TOPS = (1 << LOW_BITS) / 8, HALF_TOPS = 2;
    for (int k = threadIdx.x; k < (HIGH_TOPS + LOW_TOPS + 2 * HALF_TOPS) * SLOTS * ODD_WORDS; k += THREADS) {
        const int slot = k % SLOTS, word = k / SLOTS % ODD_WORDS;
        int top = k / (SLOTS * ODD_WORDS);
        auto window = [&](int f) { return f < 0 ? 0 : tables.window[f][slot]; };
        if (top < HIGH_TOPS) {
            fill_bytes(tables, tables.high, INNER_BITS + LOW_BITS, top, slot, word,
                       [&](int f) { return HIGH_START - window(f) - (f < 0 ? 0 : tables.start[f][slot]); });
        } else if ((top -= HIGH_TOPS) < LOW_TOPS) {
            fill_bytes(tables, tables.low, INNER_BITS, top, slot, word, [](int) { return LOW_START; });
        } else if ((top -= LOW_TOPS) < HALF_TOPS) {
            fill_bytes(tables, tables.half, 0, top, slot, word, [&](int f) { return HALF_START + window(f); });
        } else {
            fill_bytes(tables, tables.half + 16 * SLOTS, 4, top - HALF_TOPS, slot, word, [](int) { return HALF_START; });
        }
    }
}

// joint: for group G and all behind it all unions of one row of each form.
template <int G> __device__ inline void join_rows(Tables &tables, const Bits *single) {
    if constexpr (G < GROUPS) {
        constexpr int size = group_size(G), first = group_first(G), line = group_line(G);
        for (int k = threadIdx.x; k < power(PICKS, size - 1) * LINE; k += THREADS) {
            const int pick = k / LINE, block = k % LINE;
            Bits rest = {};
            if constexpr (size > 1) unite(rest, single[((first + 1) * PICKS + pick % PICKS) * LINE + block]);
            if constexpr (size > 2) unite(rest, single[((first + 2) * PICKS + pick / PICKS) * LINE + block]);
#pragma unroll
            for (int j = 0; j < PICKS; j++) {
                Bits row = rest;
                if (j < WINDOW) unite(row, single[(first * PICKS + j) * LINE + block]);
                tables.joint[(line + pick * PICKS + j) * LINE + block] = row;
            }
        }
        join_rows<G + 1>(tables, single);
    }
}

// Where the rows of a (high, low) and an image are in the joint tables: for each pair of groups two halves of a
// word, in bytes from the group's first line on, `column` added to both.
struct Chosen {
    u32 pair[(GROUPS + 1) / 2];
};
__device__ inline u32 clamped(u32 halves, u32 minus_bias) {
#ifdef LANGFORD_HOST
    u32 made = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const u32 row = (halves >> shift) + (minus_bias >> shift) & 0xFFFF;
        made |= (row < WINDOW ? row : WINDOW) << shift;
    }
    return made;
#else
    return __viaddmin_u16x2(halves, minus_bias, WINDOW * 0x10001u);
#endif
}
__device__ inline u32 odd_bytes(u32 word) {
#ifdef LANGFORD_HOST
    return word >> 8 & 0x00FF00FF;
#else
    return __byte_perm(word, 0, 0x4341);
#endif
}

// For groups G and G + 1 and all behind them; part: two bytes of forms in a word.
template <int G> __device__ inline void choose_from(Chosen &chosen, const u32 *part, u32 column) {
    if constexpr (G < GROUPS) {
        constexpr int size = group_size(G), first = first_part(G), BYTES = 16 * LINE;
        u32 at = column * 0x10001u + part[first] * BYTES;
        if constexpr (alone(G)) {
            if constexpr (size > 1) at += (part[first] >> 16) * (BYTES * PICKS);   // no bit of the lower half is left
            if constexpr (size > 2) at += part[first + 1] * (BYTES * PICKS * PICKS);
        } else {
            if constexpr (size > 1) at += part[first + 1] * (BYTES * PICKS);
            if constexpr (size > 2) at += part[first + 2] * (BYTES * PICKS * PICKS);
        }
        chosen.pair[G / 2] = at;
        choose_from<G + 2>(chosen, part, column);
    }
}
__device__ inline Chosen choose_rows(const Bytes &high, const Bytes &low, u32 minus_bias, u32 column) {
    u32 part[2 * ODD_WORDS];
#pragma unroll
    for (int k = 0; k < ODD_WORDS; k++) {
        const u32 sum = high.word[k] + low.word[k];
        part[2 * k] = clamped(sum & 0x00FF00FF, minus_bias);
        part[2 * k + 1] = clamped(odd_bytes(sum), minus_bias);
    }
    Chosen chosen;
    choose_from<0>(chosen, part, column);
    return chosen;
}

// 16 bytes of shared memory at an address in it, a multiple of 16, and OFFSET.
template <int OFFSET> __device__ inline Bits shared_bits(const void *base, u32 address) {
#ifdef LANGFORD_HOST
    return *reinterpret_cast<const Bits *>(static_cast<const char *>(base) + address + OFFSET);
#else
    Bits bits;   // the compiler cannot know that the address is a multiple
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(bits.word[0]), "=r"(bits.word[1]), "=r"(bits.word[2]), "=r"(bits.word[3])
                 : "r"(address), "n"(OFFSET));
    return bits;
#endif
}
// The address in shared memory, below 2^16; on the host 0, as shared_bits is told the base.
__device__ inline u32 shared_address(const void *base) {
#ifdef LANGFORD_HOST
    return 0;
#else
    return u32(__cvta_generic_to_shared(base));
#endif
}

// Unites what was chosen of group G and all behind it, one half of a row of 256.
template <int G> __device__ inline void unite_rows(Bits &dead, const Bits *joint, const Chosen &chosen, u32 half) {
    if constexpr (G < GROUPS) {
        constexpr int line = group_line(G);
        const u32 pair = chosen.pair[G / 2], address = (G % 2 ? pair >> 16 : pair & 0xFFFF) ^ half;
        unite(dead, shared_bits<line * LINE * 16>(joint, address));
        unite_rows<G + 1>(dead, joint, chosen, half);
    }
}
