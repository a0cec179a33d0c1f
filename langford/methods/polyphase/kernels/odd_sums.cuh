// ΣO: the odd sums of a pair's eight images, multiplied and added up.
#include "components.cuh"
#include "integers.cuh"
#include "matrix.cuh"

__device__ constexpr int odd_lag[FORMS] = {ODD};
__device__ constexpr int first_factor[5] = {GROUPS};
__device__ constexpr int factor_of[FORMS] = {FACTORS};

// ΣO = high · 2^32 + low, or low alone.
#if SHORT_ODD
struct Odd {
    i64 low;
};
#else
struct alignas(16) Odd {
    i64 high, low;
};
#endif

// What bit `bit` of v multiplies in an image of an odd sum: image bit 0 reverses u,
// bit 1 reverses v, bit 2 is "alt".
__device__ inline int coefficient(i64 natural, int bit, int form, int image) {
    int step = V_LENGTH - 1 - bit;
    int element = step & 1 ? V_LENGTH - 1 - step / 2 : step / 2;
    int position = OFFSET + (image & 2 ? V_LENGTH - 1 - element : element);
    int before = position - odd_lag[form], after = position + odd_lag[form] + 1;
    if (image & 1) { before = U_LENGTH - 1 - before; after = U_LENGTH - 1 - after; }
    int a = sign_at(natural, before, U_LENGTH), b = sign_at(natural, after, U_LENGTH);
    if (image & 4) return (a - b) * (form == 0 ? ALT_SIGN : 1);
    return a + b;
}

// The forms of u.  Bit b of v is element 16 · (b / 4 % 2) + 4 · (b % 4) + b / 8 of a row.
__device__ inline void fill_matrix(u32 *forms, i64 natural) {
    for (int cell = threadIdx.x; cell < FORMS * 64; cell += THREADS) {
        const int form = cell / 64, half = cell / 32 % 2, image = cell / 4 % 8, t = cell % 4;
        u32 packed = 0;
        for (int j = 0; j < 4; j++) {
            const int bit = t + 4 * half + 8 * j;
            const int value = bit < V_LENGTH ? coefficient(natural, bit, form, image) : 0;
            packed |= element(value) << 8 * j;
        }
        forms[cell] = packed;
    }
}

// The products of a thread's odd sums, factor by factor, for two images of two rows.  One or two factors,
// each below 2^22 so that a float holds it, make a group; groups are integers.
struct Products {
    Entry factor[8][4];

    __device__ inline void multiply(const Sums &sums, int tile) {
#pragma unroll
        for (int form = 8 * tile; form < 8 * tile + 8 && form < FORMS; form++) {
            const int f = factor_of[form];
            const bool first = form == 0 || factor_of[form - 1] != f;
#pragma unroll
            for (int k = 0; k < 4; k++)
                factor[f][k] = first ? sums[form % 8][k] : factor[f][k] * sums[form % 8][k];
        }
    }

    __device__ inline int group(int g, int k) const {
        if (first_factor[g + 1] == first_factor[g]) return 1;
        int product = whole(factor[first_factor[g]][k]);
        if (first_factor[g + 1] == first_factor[g] + 2) product *= whole(factor[first_factor[g] + 1][k]);
        return product;
    }

    // Part of ΣO: both images of row g (row 0) or g + 8 (row 1).
    __device__ inline Odd odd_part(int row) const {
        Odd odd = {};
#pragma unroll
        for (int k = 2 * row; k < 2 * row + 2; k++) {
#if SHORT_ODD
            odd.low = add_product(group(0, k), group(1, k), odd.low);
#else
            // O = A · C, A = A1 · 2^32 + A0: signed 32-bit multiplications into 64-bit sums suffice.
            i64 a = add_product(group(0, k), group(1, k), 0);
#if FOUR_GROUPS
            a *= group(3, k);
#endif
            const int c = group(2, k);
            const Digits digits = split(a);
            odd.high = add_product(digits.carry, c, odd.high);
            odd.low = add_product(digits.digit, c, odd.low);
#endif
        }
        return odd;
    }
};

// Parts of ΣO for 32 pairs of the warp: of each pair, one from every thread of its row.  A row is
// 5 long so that no two threads read one bank.
struct Parts {
    Odd part[32][5];

    __device__ inline Odd sum() const {
        Odd sum = {};
#pragma unroll
        for (int t = 0; t < 4; t++) {
            const Odd &part = this->part[threadIdx.x % 32][t];
            sum.low += part.low;
#if !SHORT_ODD
            sum.high += part.high;
#endif
        }
        return sum;
    }
};

// Computes the parts for the 32 v's listed (each with the bits `upper`), and calls `meanwhile` while the tensor cores work.
template <class Work>
__device__ inline void odd_parts(Parts &parts, const u32 *forms, u64 matrix, const u16 *listed, u32 upper,
                                 Work meanwhile) {
    const int lane = threadIdx.x % 32, t = lane % 4;
    const u32 low = ONES ^ flips(upper, t), high = ONES ^ flips(upper, t + 4);
    Rows rows[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const u32 v = listed[16 * half + lane / 4], w = listed[16 * half + 8 + lane / 4];
        rows[half] = {low ^ flips(v, t), low ^ flips(w, t), high ^ flips(v, t + 4), high ^ flips(w, t + 4)};
    }
    Products products;
    Sums sums;
    begin(sums, rows[0], 0, forms, matrix);
    meanwhile();
#pragma unroll
    for (int step = 0; step < 2 * TILES; step++) {
        const int half = step / TILES, tile = step % TILES;
        if (step) begin(sums, rows[half], tile, forms, matrix);
        finish(sums);
        products.multiply(sums, tile);
        if (tile + 1 == TILES)
            for (int row = 0; row < 2; row++)
                parts.part[16 * half + 8 * row + lane / 4][t] = products.odd_part(row);
    }
}
