// ΣO: the odd sums of a pair's eight images, multiplied and added up.
#pragma once

__device__ constexpr int odd_lag[FORMS] = {ODD};
__device__ constexpr int group_end[4] = {GROUP_ENDS};

// The forms of u for the tensor cores.  Bit b of v, as a byte 0 or 1, is element k = slot(b) of
// a row of 32; V_LENGTH = 32 leaves no element for the constant, its rows hold +1 and −1.
constexpr bool SIGNED_ROWS = V_LENGTH == 32;
constexpr u32 CONSTANT = SIGNED_ROWS ? 0 : 1u << 31;

// Bits t, t + 8, t + 16, t + 24 of v.
__device__ inline u32 every_eighth(u32 v, int t) { return v >> t & 0x01010101; }

// Such bits as elements of a row: bytes 0 or 1, or ±1.
__device__ inline u32 elements(u32 bits) { return SIGNED_ROWS ? bits * 0xFE + 0x01010101 : bits; }

// ΣO = high · 2^32 + low.
struct alignas(16) Odd {
    i64 high, low;
};

// What bit `bit` of v adds, while it is 0, to an image of an odd sum: image bit 0 reverses u,
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

__device__ inline void fill_matrix(u32 *forms, i64 natural) {
    for (int cell = threadIdx.x; cell < FORMS * 64; cell += THREADS) {
        const int form = cell / 64, half = cell / 32 % 2, image = cell / 4 % 8, t = cell % 4;
        u32 packed = 0;
        for (int j = 0; j < 4; j++) {
            const int bit = t + 4 * half + 8 * j;
            int value = 0;
            if (bit < V_LENGTH) value = coefficient(natural, bit, form, image) * (SIGNED_ROWS ? 1 : -2);
            packed |= (value & 0xFF) << 8 * j;
        }
        forms[cell] = packed;
    }
}

// The element of bit 31, always set: what a form is while all other bits are 0.
__device__ inline void add_constants(u32 *forms) {
    for (int cell = threadIdx.x; cell < FORMS * 8 && !SIGNED_ROWS; cell += THREADS) {
        u32 *own = forms + cell / 8 * 64 + cell % 8 * 4;
        int sum = 0;
        for (int k = 0; k < 32; k++) sum -= (signed char)(own[k / 16 * 32 + k / 4 % 4] >> 8 * (k % 4));
        own[32 + 3] |= sum / 2 << 24;
    }
}

// The products of a thread's odd sums, group by group, for two images of two rows.
struct Products {
    int group[4][4];

    __device__ inline void multiply(const Sums &sums, int tile) {
#pragma unroll
        for (int form = 8 * tile; form < 8 * tile + 8 && form < FORMS; form++) {
            int g = (form >= group_end[0]) + (form >= group_end[1]) + (form >= group_end[2]);
            const bool first = form == (g ? group_end[g - 1] : 0);
#pragma unroll
            for (int k = 0; k < 4; k++)
                group[g][k] = first ? sums[form % 8][k] : group[g][k] * sums[form % 8][k];
        }
    }

    // Part of ΣO: both images of row g (row 0) or g + 8 (row 1).
    __device__ inline Odd odd_part(int row) const {
        Odd odd = {0, 0};
#pragma unroll
        for (int k = 2 * row; k < 2 * row + 2; k++) {
            // O = A · B, A = A1 · 2^32 + A0: signed 32-bit multiplications into 64-bit sums suffice.
            const int b = group_end[1] > group_end[0] ? group[1][k] : 1;
            const int c = group_end[2] > group_end[1] ? group[2][k] : 1;
            i64 a = add_product(group[0][k], b, 0);
#if FOUR_GROUPS
            a *= group[3][k];
#endif
            const Digits digits = split(a);
            odd.high = add_product(digits.carry, c, odd.high);
            odd.low = add_product(digits.digit, c, odd.low);
        }
        return odd;
    }
};

// Parts of ΣO for 32 pairs of the warp: of each pair, one from every thread of its row.  A row is
// 5 long so that no two threads read one bank.
struct Parts {
    Odd part[32][5];

    __device__ inline Odd sum() const {
        Odd sum = {0, 0};
#pragma unroll
        for (int t = 0; t < 4; t++) {
            sum.high += part[threadIdx.x % 32][t].high;
            sum.low += part[threadIdx.x % 32][t].low;
        }
        return sum;
    }
};

// Computes the parts for the 32 v's listed (each with the bits `upper`), and calls `meanwhile` while the tensor cores work.
template <class Work>
__device__ inline void odd_parts(Parts &parts, const u32 *forms, u64 matrix, const u16 *listed, u32 upper,
                                 Work meanwhile) {
    const int lane = threadIdx.x % 32, t = lane % 4;
    const u32 upper_low = every_eighth(upper, t), upper_high = every_eighth(upper, t + 4);
    Rows rows[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const u32 v = listed[16 * half + lane / 4], w = listed[16 * half + 8 + lane / 4];
        rows[half] = {elements(every_eighth(v, t) | upper_low), elements(every_eighth(w, t) | upper_low),
                      elements(every_eighth(v, t + 4) | upper_high), elements(every_eighth(w, t + 4) | upper_high)};
    }
    // The next tile of the matrix product is under way while one is used.
    Sums tiles[2];
    begin(tiles[0], rows[0], 0, forms, matrix);
    meanwhile();
    Products products;
#pragma unroll
    for (int step = 0; step < 2 * TILES; step++) {
        const int next = step + 1, half = step / TILES;
        if (next < 2 * TILES) {
            begin(tiles[next % 2], rows[next / TILES], next % TILES, forms, matrix);
            finish<1>(tiles[step % 2]);
        } else {
            finish<0>(tiles[step % 2]);
        }
        products.multiply(tiles[step % 2], step % TILES);
        if (next % TILES == 0)
            for (int row = 0; row < 2; row++)
                parts.part[16 * half + 8 * row + lane / 4][t] = products.odd_part(row);
    }
}
