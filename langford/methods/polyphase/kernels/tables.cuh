// What a task needs before it is summed: the classes of u's and the tables of a tile of v's.
#include "components.cuh"
#include "even_sums.cuh"
#include "integers.cuh"

// Appends the u's of `count` components from `first` on that are the smallest of their class under
// reversal and negation: us, weights (class size) and limits (the smallest image under
// alternation too, above which v's belong to another pair; without a mirror none does).
extern "C" __global__ void
representatives(i64 first, i64 count, i64 *us, i64 *weights, i64 *limits, int *found) {
    for (i64 at = blockIdx.x * THREADS + threadIdx.x; at < count; at += gridDim.x * THREADS) {
        const i64 component = first + at;
        const Orbit own = orbit(component, U_LENGTH, 0, U_NEGATION);
        if (own.smallest != component) continue;
        const int slot = atomicAdd(found, 1);
        us[slot] = component;
        weights[slot] = own.size;
        limits[slot] = MIRRORED ? orbit(component, U_LENGTH, U_ALTERNATION, U_NEGATION).smallest : 1ll << 62;
    }
}

// The tables of the tile first … first + 2^bits − 1, which start all 0 (polyphase.cu, and
// polyphase.py, tile_tables):
//   members [4][words of 32]: the classes of 8, 4, 2 and 1 images; present [4]: their numbers;
//   rows [EVENS · (V_LENGTH + 1) + 1][words]; keys [2^bits].
extern "C" __global__ void
tile_tables(i64 first, int bits, u32 *members, int *present, u32 *rows, u16 *keys) {
    const int words = bits > 7 ? 1 << (bits - 5) : 4;
    for (int x = blockIdx.x * THREADS + threadIdx.x; x < 1 << bits; x += gridDim.x * THREADS) {
        const i64 v = first + x;
        const Orbit own = orbit(v, V_LENGTH, V_ALTERNATION, V_NEGATION);
        if (own.smallest != v) continue;
        const u32 bit = 1u << (x & 31);
        const int class_index = own.size == 8 ? 0 : own.size == 4 ? 1 : own.size == 2 ? 2 : 3;
        atomicOr(&members[class_index * words + x / 32], bit);
        atomicAdd(&present[class_index], 1);
        const i64 natural = natural_order(v, V_LENGTH);
        for (int pair = 0; pair < PAIRS; pair++) {
            int key = offset_of[pair];
            for (int k = 0; k < 2; k++) {
                const int i = 2 * pair + k;
                if (i >= EVENS) continue;
                const int length = terms(i, V_LENGTH);
                const int index = (length + autocorrelation(natural, i, V_LENGTH)) / 2;
                atomicOr(&rows[(i * (V_LENGTH + 1) + index) * words + x / 32], bit);
                key += k ? index : index * stride_of[pair];
            }
            if (!pair && __popcll(natural) & 1) key += (offset_of[1] - offset_of[0]) / 2;
            keys[8 * x + pair] = 2 * key;
        }
    }
}
