// The tables of one u for the filter, in shared memory: rows of 256 bits where odd forms vanish, and bytes that
// say which row a v has, and what the forms are at it.
//
// A v of the tile is (high | low | inner) bits.  For fixed u an odd form is a sum over the bits of v.  The high and
// low bits say at which sum over the inner bits it vanishes; a few of these sums, its window, have a row, others
// have the empty row.  Forms are joined in groups.  Four images of a pair are done together: (u, v), u backwards,
// v backwards, both; without symmetry (IMAGES = 1) the four are the same.
//
// A form has a place in some group.  Places have windows of different lengths; forms are dealt to them for each u and
// image, those with the fewest inner terms to the shortest windows.
#include "shared_memory.cuh"
#include "places.cuh"

constexpr int HIGH_BITS = TILE_BITS - INNER_BITS - LOW_BITS, HIGH = HIGH_BITS > 3 ? 1 << HIGH_BITS : 8;

// Bytes of places.  Two groups are chosen from together, as the halves of a word: their places lie so that
// masks 00FF00FF of a word, and of the word shifted by 8 bits, give place k of both.
__device__ constexpr bool alone(int g) { return g == GROUPS - 1 && GROUPS % 2; }
__device__ constexpr int first_part(int g) {   // 16-bit parts of 8 bits each, before the pair of g
    int parts = 0;
    for (int before = 0; before < g / 2; before++) parts += GROUP_SIZE[2 * before];
    return parts;
}
__device__ constexpr int byte_of(int g, int k) {
    const int part = first_part(g) + (alone(g) ? k / 2 : k), half = alone(g) ? k % 2 : g % 2;
    return part / 2 * 4 + part % 2 + 2 * half;
}
constexpr signed char NONE = -1, BITS_OF_V = -2;
constexpr bool COUNTS_BITS = FORMS < 4 * ODD_WORDS;   // the last byte says how many bits of v are set
struct Layout {
    signed char place[4 * ODD_WORDS];   // in each byte, or NONE
    u32 most[2 * ODD_WORDS];            // windows, in the halves of each part
};
__device__ constexpr Layout layout() {
    Layout made = {};
    for (int k = 0; k < 4 * ODD_WORDS; k++) made.place[k] = NONE;
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < GROUP_SIZE[g]; k++) {
            const int byte = byte_of(g, k);
            made.place[byte] = group_first(g) + k;
            made.most[byte / 4 * 2 + byte % 2] |= u32(WINDOW[group_first(g) + k]) << (byte % 4 > 1 ? 16 : 0);
        }
    if (COUNTS_BITS) made.place[4 * ODD_WORDS - 1] = BITS_OF_V;
    return made;
}
__constant__ const Layout in_bytes = layout();

__device__ inline void unite(Bits &bits, const Bits &more) {
    for (int k = 0; k < 4; k++) bits.word[k] |= more.word[k];
}

// A byte for each place, or half a byte: those of words 2k and 2k + 1 side by side.
struct alignas(16) Bytes {
    u32 word[ODD_WORDS];
};
struct alignas(8) HalfBytes {
    u32 word[ODD_WORDS / 2];
};
constexpr int BIAS = 128;

// A point's bits below the high ones are looked up in two parts: inner bits but the topmost, and that one with the low bits.
constexpr int LOWER_BITS = INNER_BITS + LOW_BITS, FIRST_BITS = 7, SECOND_BITS = LOWER_BITS - FIRST_BITS;
struct Counts {
    HalfBytes second[1 << SECOND_BITS], first[1 << FIRST_BITS];
    HalfBytes apart[4];   // so that the images are in other banks
};
struct Tables {
    Bits joint[LINES * LINE];
    Bytes high[SLOTS][HIGH + 1];             // with counts of the other bits: BIAS minus the form
    Bytes low[(1 << LOW_BITS) * SLOTS];      // with high: BIAS plus the number of the row
    Counts counts[SLOTS];
    Bytes turn[2][SLOTS];                    // what each of u's two bits adds to them
    Term term[FORMS][SLOTS];                 // by place
};

// Where its tables are in it, in bytes.
constexpr int HIGHS = sizeof(Bits) * LINES * LINE, COUNTS = HIGHS + sizeof(Bytes) * (SLOTS * (HIGH + 1) + (SLOTS << LOW_BITS));
constexpr int SECOND_COUNTS = COUNTS, FIRST_COUNTS = SECOND_COUNTS + (sizeof(HalfBytes) << SECOND_BITS);
constexpr int TURNS = COUNTS + SLOTS * sizeof(Counts);
static_assert(sizeof(Tables) == TURNS + 2 * SLOTS * sizeof(Bytes) + sizeof(Term) * FORMS * SLOTS, "no gaps");

// single [SINGLE_ROWS][LINE]: the rows of each place.
__device__ inline void fill_single_rows(const Tables &tables, Bits *single) {
    for (int k = threadIdx.x; k < FORMS * SLOTS * 8; k += THREADS) {
        const int word = k % 8, slot = k / 8 % SLOTS, place = k / (8 * SLOTS);
        const Term term = tables.term[place][slot];
        // How many of the five lowest bits count, bit by bit, at the 32 v's of a word.
        const u32 pattern[5] = {0xAAAAAAAA, 0xCCCCCCCC, 0xF0F0F0F0, 0xFF00FF00, 0xFFFF0000};
        u32 in[5];
        for (int b = 0; b < 5; b++) in[b] = pattern[b] & -(term.plus >> b & 1) | ~pattern[b] & -(term.minus >> b & 1);
        const u32 sum = in[0] ^ in[1] ^ in[2], carry = in[0] & in[1] | in[2] & (in[0] | in[1]);
        const u32 ones = sum ^ in[3] ^ in[4], more = sum & in[3] | in[4] & (sum | in[3]);
        const u32 twos = carry ^ more, fours = carry & more;
        const u32 above = term.plus >> 5 & 7, below = term.minus >> 5 & 7;
        int count = term.window + __popc(term.minus & 255) - __popc(word & above) - __popc(~word & below);
        u32 *row = single[in_singles.first[place] * LINE + 2 * slot].word + word;
        for (int j = 0; j < window_at[place]; j++, count++) {
            const u32 equal = (ones ^ (count & 1) - 1) & (twos ^ (count >> 1 & 1) - 1) & (fours ^ (count >> 2 & 1) - 1);
            row[j * LINE * 4] = term.tested && u32(count) < 6 ? equal : 0;
        }
    }
}

// What a table of bytes holds for the place in a byte: with index 0, and for each bit of the index that is set.
struct Steps {
    int start;
    u32 plus, minus;   // bits that take 1 away, that add 1
};

__device__ constexpr int whole_warps(int items) { return (items + 31) / 32 * 32; }

// 2^BITS entries, from number top · 2^BITS on, of WORDS words of bytes from `word` on, the second one times 16.
// put(number, sum): stores one.
template <int BITS, int WORDS, class Of, class Put>
__device__ inline void fill_entries(int word, int top, Of steps_of, Put put) {
    u32 first = 0, step[BITS] = {};
    for (int k = 0; k < 4 * WORDS; k++) {
        const int place = in_bytes.place[4 * word + k], shift = k % 4 * 8 + k / 4 * 4;
        if (place == NONE) continue;
        const Steps steps = steps_of(place);
        const u32 above = u32(top) << BITS;
        first += u32(steps.start + __popc(above & steps.minus) - __popc(above & steps.plus)) << shift;
#pragma unroll
        for (int b = 0; b < BITS; b++) step[b] += u32(int(steps.minus >> b & 1) - int(steps.plus >> b & 1)) << shift;
    }
#pragma unroll
    for (int k = 0; k < 1 << BITS; k++) {
        u32 lower = 0, upper = first;   // eight entries have the same one
#pragma unroll
        for (int b = 0; b < BITS; b++)
            if (k >> b & 1) (b < 3 ? lower : upper) += step[b];
        put(top << BITS | k, upper + lower);
    }
}

__device__ inline void fill_byte_tables(Tables &tables) {
    constexpr int LOWER = (1 << LOWER_BITS) - 1, ENTRY_BITS = 5, HIGH_ENTRY_BITS = HIGH < 32 ? 3 : 5;
    constexpr int HIGH_TOPS = HIGH >> HIGH_ENTRY_BITS;
    constexpr int FIRST_TOPS = 1 << (FIRST_BITS - ENTRY_BITS), COUNT_TOPS = FIRST_TOPS + (1 << (SECOND_BITS - ENTRY_BITS));
    // Items of a kind begin with a warp.
    constexpr int COUNTS_FROM = whole_warps(HIGH_TOPS * SLOTS * ODD_WORDS), COUNT_ITEMS = COUNT_TOPS * SLOTS * (ODD_WORDS / 2);
    constexpr int LOW_FROM = COUNTS_FROM + whole_warps(COUNT_ITEMS);
    static_assert(LOW_BITS == ENTRY_BITS && HIGH >> HIGH_ENTRY_BITS << HIGH_ENTRY_BITS == HIGH, "whole items");
    for (int k = threadIdx.x; k < LOW_FROM + SLOTS * ODD_WORDS; k += THREADS) {
        const int slot = k % SLOTS, word = k / SLOTS % ODD_WORDS;
        if (k < HIGH_TOPS * SLOTS * ODD_WORDS)
            fill_entries<HIGH_ENTRY_BITS, 1>(word, k / (SLOTS * ODD_WORDS), [&](int place) -> Steps {
                if (place == BITS_OF_V) return {0, 0, ~0u};
                const Term term = tables.term[place][slot];
                return {BIAS - term.start - __popc(term.plus & LOWER), term.plus >> LOWER_BITS, term.minus >> LOWER_BITS};
            }, [&](int number, u32 sum) { tables.high[slot][number].word[word] = sum; });
        else if (k >= LOW_FROM)
            fill_entries<LOW_BITS, 1>(word, 0, [&](int place) -> Steps {
                if (place == BITS_OF_V) return {0, 0, ~0u};
                const Term term = tables.term[place][slot];
                return {__popc(term.plus & LOWER) - term.window, term.plus >> INNER_BITS, term.minus >> INNER_BITS};
            }, [&](int number, u32 sum) { tables.low[number * SLOTS + slot].word[word] = sum; });
        else if (k >= COUNTS_FROM && k < COUNTS_FROM + COUNT_ITEMS) {
            const int item = k - COUNTS_FROM, pair = item / SLOTS % (ODD_WORDS / 2), top = item / (SLOTS * (ODD_WORDS / 2));
            const bool is_first = top < FIRST_TOPS;
            const int shift = is_first ? 0 : FIRST_BITS;
            const u32 mask = (1 << (is_first ? FIRST_BITS : SECOND_BITS)) - 1;
            HalfBytes *table = is_first ? tables.counts[slot].first : tables.counts[slot].second;
            fill_entries<ENTRY_BITS, 2>(2 * pair, is_first ? top : top - FIRST_TOPS, [&](int place) -> Steps {
                if (place == BITS_OF_V) return {0, 0, ~0u};
                const Term term = tables.term[place][slot];
                const u32 plus = term.plus >> shift & mask;
                return {__popc(plus), plus, term.minus >> shift & mask};
            }, [&](int number, u32 sum) { table[number].word[pair] = sum; });
        }
    }
}

// What each of the two bits of a row's number adds to the bytes that say which row it has.
__device__ inline void fill_turns(Tables &tables, RowBits bits) {
    const int k = THREADS - 1 - threadIdx.x, slot = k % SLOTS, word = k / SLOTS % ODD_WORDS, second = k / (SLOTS * ODD_WORDS);
    if (second > 1) return;
    u32 made = 0;
    for (int byte = 0; byte < 4; byte++) {
        const int place = in_bytes.place[4 * word + byte];
        if (place < 0) continue;
        const Term term = tables.term[place][slot];
        const int bit = INNER_BITS + (second ? bits.second : bits.first);
        made += u32(int(term.minus >> bit & 1) - int(term.plus >> bit & 1)) << 8 * byte;
    }
    tables.turn[second][slot].word[word] = made;
}

// The union of the rows of places K … of group G, by their numbers in `picks`; a number beyond the window stands for none.
template <int G, int K> __device__ inline void unite_picks(Bits &row, const Bits *single, int picks, int block) {
    if constexpr (K < GROUP_SIZE[G]) {
        constexpr int place = group_first(G) + K, first = single_row(place), window = WINDOW[place];
        const int pick = picks % (window + 1);
        if (pick < window) unite(row, single[(first + pick) * LINE + block]);
        unite_picks<G, K + 1>(row, single, picks / (window + 1), block);
    }
}

// joint: for group G and all behind it all unions of one row of each place.
template <int G> __device__ inline void join_rows(Tables &tables, const Bits *single) {
    if constexpr (G < GROUPS) {
        constexpr int line = group_line(G), window = WINDOW[group_first(G)], first = single_row(group_first(G));
        constexpr int others = stride(G, GROUP_SIZE[G]) / (window + 1);
        for (int k = threadIdx.x; k < others * LINE; k += THREADS) {
            const int pick = k / LINE, block = k % LINE;
            Bits rest = {};
            unite_picks<G, 1>(rest, single, pick, block);
#pragma unroll
            for (int j = 0; j <= window; j++) {
                Bits row = rest;
                if (j < window) unite(row, single[(first + j) * LINE + block]);
                tables.joint[(line + pick * (window + 1) + j) * LINE + block] = row;
            }
        }
        join_rows<G + 1>(tables, single);
    }
}
