// E: the product of the even sums of a pair, halved, from a table per u.
#include "integers.cuh"

__device__ constexpr int shift_of[EVENS + 1] = {SHIFTS};
__device__ constexpr int terms_of[2 * PAIRS] = {LENGTHS};
__device__ constexpr int stride_of[PAIRS] = {STRIDES};
__device__ constexpr int offset_of[PAIRS + 1] = {OFFSETS};

// Terms of an even sum that a component of the length contributes.
__device__ inline int terms(int i, int length) { return length > shift_of[i] ? length - shift_of[i] : 0; }

// Σ_k w_k w_{k + shift} of a component in natural order.
__device__ inline int autocorrelation(i64 natural, int i, int length) {
    const u64 mask = (1ull << terms(i, length)) - 1;
    return terms(i, length) - 2 * __popcll((natural ^ natural >> shift_of[i]) & mask);
}

// Offsets in bytes into the table of even products, two to a word.
struct alignas(16) Keys {
    u32 word[4];
};

// table[offset + index] = the product of the halved sums 2 · pair and 2 · pair + 1 where v's parts are
// given by the index, for the u whose parts are `lags`; pair 0 follows again with the other sign.
__device__ inline void fill_even_table(i16 *table, const int *lags) {
    for (int pair = 0; pair < PAIRS; pair++) {
        const int cells = (offset_of[pair + 1] - offset_of[pair]) / (pair ? 1 : 2);
        for (int cell = threadIdx.x; cell < cells; cell += THREADS) {
            int product = 1;
            for (int k = 0; k < 2; k++) {
                const int i = 2 * pair + k, index = k ? cell % stride_of[pair] : cell / stride_of[pair];
                if (i < EVENS) product *= (lags[i] + 2 * index - terms_of[i]) / 2;
            }
            table[offset_of[pair] + cell] = product;
            if (!pair) table[cells + cell] = -product;
        }
    }
}

// E of a pair, and the pair of even sums that is left to ΣO.
struct Even {
    Digits product;
    int left;
};

__device__ inline Even even_product(Keys key, const i16 *table) {
    int cells[PAIRS];
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        const u32 word = key.word[pair / 2];
        cells[pair] = *reinterpret_cast<const i16 *>(
            reinterpret_cast<const char *>(table) + (pair & 1 ? word >> 16 : word & 0xFFFF));
    }
    int even_a = 1, even_b = 1;
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        if (pair == SPLIT_PAIR) continue;
        if (pair < 3) even_a *= cells[pair];
        else if (pair < 6) even_b *= cells[pair];
    }
    Digits even = split(add_product(even_a, even_b, 0));
#pragma unroll
    for (int pair = 6; pair < PAIRS; pair++) {
        if (pair == SPLIT_PAIR) continue;
        const i64 product = add_product(even.digit, cells[pair], 0);
        even = split(product + (i64(even.carry * cells[pair]) << 32));
    }
    return {even, SPLIT_PAIR < 0 ? 1 : cells[SPLIT_PAIR < 0 ? 0 : SPLIT_PAIR]};
}
