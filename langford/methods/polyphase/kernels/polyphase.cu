// Polyphase sum on the GPU: one tile of v's against many u's.
//
// One block takes one u at a time.  It builds, in shared memory, the matrix of u's odd forms and
// the table of even products.  Then its threads find the v's without a vanishing even sum by
// or-ing bitmaps, list them, and take them from the list:
//   - tensor cores give the 8 images of every odd sum of 16 pairs per warp: a 16 × 8 tile of integers
//     per form with the images as columns, so that a thread multiplies all forms of two images
//     without ever exchanging one (odd_sums.cuh);
//   - the four threads of a row add up their images through shared memory;
//   - then each thread owns one pair: it looks up the even product E and adds E · ΣO.
//
// Defined by the loader: U_LENGTH, V_LENGTH, OFFSET; FORMS, ODD (half-lags, factor by factor), FACTORS (the
// factor of each form: a product below 2^22), GROUPS (the first factor of each of four groups, and their
// end: a group is a product of at most two factors below 2^31), FOUR_GROUPS (whether the last is used),
// SHORT_ODD (whether ΣO fits 63 bits; there are two groups then); EVENS, SHIFTS, LENGTHS, STRIDES, PAIRS,
// OFFSETS, TABLE (even table), SPLIT_PAIR (the pair that E leaves to ΣO, or −1; E fits
// 63 bits, its pairs 0–2 and 3–5 fit 32 bits each), HIGH_WORDS (1: sums of E times the high part of ΣO
// fit 128 bits; 2: they do not; 3: nor does that part fit 64, or E 62); ALT_SIGN; U_ALTERNATION,
// U_NEGATION, V_ALTERNATION, V_NEGATION (xor masks of the symmetries); LIMBS; THREADS, MIN_BLOCKS.

#include "components.cuh"
#include "even_sums.cuh"
#include "integers.cuh"
#include "matrix.cuh"
#include "odd_sums.cuh"
#include "tables.cuh"

constexpr int WARPS = THREADS / 32, CHUNK = 4 * THREADS, LIST = 16 * CHUNK + THREADS;
constexpr int SEGMENT_WORDS = 1 << 11;   // of 32 v's: 16 bits tell them apart

// A sum of terms E · ΣO: low + high · 2^32 (+ top · 2^96, high then a sum of unsigned words).
struct Sum {
    wide low, high, top;
};

// Adds E · ΣO.
__device__ inline void add_term(Sum &sum, Odd odd, Even pair) {
    const Digits even = pair.product;   // E = carry · 2^32 + digit
    Digits low = split(odd.low);
#if SHORT_ODD
    i64 high = low.carry;
#else
    i64 high = odd.high + low.carry;
#endif
#if SPLIT_PAIR >= 0
    low = split(add_product(low.digit, pair.left, 0));
#if HIGH_WORDS == 3
    const wide whole = (wide)high * pair.left + low.carry;
    high = (u64)whole;
#else
    high = high * pair.left + low.carry;
#endif
#endif
#if HIGH_WORDS < 3
    // Digit by digit; every sum stays below 2^63 as |E| < 2^62.
    const Digits odd_high = split(high);
    i64 carry = add_product(even.digit, low.digit, 0);
    sum.low += u32(carry);
    carry = add_product(even.digit, odd_high.digit, carry >> 32);
    carry = add_product(even.carry, low.digit, carry);
    const u32 word1 = u32(carry);
    carry = add_product(even.digit, odd_high.carry, carry >> 32);
    carry = add_product(even.carry, odd_high.digit, carry);
    const u64 word21 = u64(carry) << 32 | word1;
    carry = add_product(even.carry, odd_high.carry, carry >> 32);
#if HIGH_WORDS == 1
    sum.high += (wide)carry << 64 | word21;
#else
    sum.high += word21;
    sum.top += carry;
#endif
#else
    const i64 whole_even = (i64(even.carry) << 32) + even.digit;
    sum.low += (wide)whole_even * low.digit;
    const wide first = (wide)whole_even * (u64)high;
    sum.high += (u64)first;
    sum.top += (first >> 64) + (wide)whole_even * i64(whole >> 64);
#endif
}

// The sum of a warp over its u's, weighted, in limbs of 32 bits (limbs.py), and the same modulo
// 2^64 − 1 from additions of its own.
struct Total {
    i64 limbs[LIMBS], residues[LIMBS];
};

__device__ inline void add(Total &total, const Sum &sum, i64 weight) {
    // 2^64 ≡ 1.
    const wide high = (u64)sum.high + (sum.high >> 64) + sum.top, rest = sum.low + (high << 32);
    i64 carry = 0, residue_carry = 0;
    for (int k = 0; k < LIMBS; k++) {
        const i64 limb = over_warp(weight * (digit(sum.low, k) + digit(sum.high, k - 1) + digit(sum.top, k - 3)));
        const i64 residue = over_warp(weight * digit(rest, k));
        if (threadIdx.x % 32) continue;
        // Carries are spread at once: a limb stays below 2^32 however many u's there are.
        carry += total.limbs[k] + limb;
        residue_carry += total.residues[k] + residue;
        total.limbs[k] = k < LIMBS - 1 ? carry & 0xFFFFFFFF : carry;
        total.residues[k] = k < LIMBS - 1 ? residue_carry & 0xFFFFFFFF : residue_carry;
        carry >>= 32;
        residue_carry >>= 32;
    }
}

struct Shared {
    u32 forms[MATRIX];   // on 128 bytes
    Parts parts[WARPS];
    Total totals[WARPS];
    u16 list[LIST];      // v's of one segment
    int taken, listed, lags[EVENS + 1], dead_row[EVENS + 1];
    i16 table[TABLE];
};

SHARED_MEMORY(Shared);

// Four words of a bitmap of v's.
struct alignas(16) Bits {
    u32 word[4];
};

// Makes the tables of a u, in natural order.
__device__ inline void prepare(Shared &shared, i64 natural) {
    if (threadIdx.x < EVENS) {
        const int i = threadIdx.x, lag = autocorrelation(natural, i, U_LENGTH), length = terms(i, V_LENGTH);
        shared.lags[i] = lag;
        // The bitmap of the v's whose sum vanishes with u's; the one after the last is empty.
        const bool possible = -length <= lag && lag <= length;
        shared.dead_row[i] = possible ? i * (V_LENGTH + 1) + (length - lag) / 2 : EVENS * (V_LENGTH + 1);
    }
    fill_matrix(shared.forms, natural);
    __syncthreads();
    fill_even_table(shared.table, shared.lags);
    publish_matrix();
    __syncthreads();
}

// The v's of four words from word w on that survive with u: below u's class `limit`, or (own) at it.
__device__ inline Bits survivors_of(const Shared &shared, const Bits *members, const Bits *rows, int words,
                                    int w, i64 limit, bool own) {
    Bits alive = members[w / 4], dead = {};
#pragma unroll
    for (int i = 0; i < EVENS; i++) {
        const Bits row = rows[u32(shared.dead_row[i] * words + w) / 4];
        for (int k = 0; k < 4; k++) dead.word[k] |= row.word[k];
    }
    for (int k = 0; k < 4; k++) {
        const i64 limit_word = limit >> 5;
        const u32 here = limit_word == w + k ? 1u << (limit & 31) : 0;
        const u32 below = limit_word > w + k ? ~0u : here ? here - 1 : 0;
        alive.word[k] &= ~dead.word[k] & (own ? here : below);
    }
    return alive;
}

// Appends the v's of a word to the list, four at a time: each bit waits for the one before.
__device__ inline void append(u16 *slot, u32 word, int first) {
    for (; word; slot += 4) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (word) slot[k] = first + __popc(~word & (word - 1));
            word &= word - 1;
        }
    }
}

// Adds Σ f |H u| |K v| F(u, v) over `count` u's and the v's of the tile that are in
// `members` (all with |K v| = v_weight) to the carry-save numbers limbs and residues.
//   us, u_weights, u_limits [count]; first, bits: the tile is first … first + 2^bits − 1;
//   members [words of 32, 4 or more]; rows [EVENS · (V_LENGTH + 1) + 1][words], the last all 0;
//   keys [2^bits]; taken [1]: how many of the u's are taken, 0 before and after.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
polyphase(const i64 *us, const i64 *u_weights, const i64 *u_limits, int count, i64 first, int bits,
          const Bits *members, const Bits *rows, const Keys *keys, int v_weight, i64 *limbs, i64 *residues,
          u64 *survivors, u32 *taken) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    const int warp = threadIdx.x / 32;
    Total &total = shared.totals[warp];
    const int words = bits > 7 ? 1 << (bits - 5) : 4;
    const u64 matrix = describe(shared.forms);
    if (threadIdx.x % 32 < LIMBS) total.limbs[threadIdx.x % 32] = total.residues[threadIdx.x % 32] = 0;
    u64 found = 0;
    for (;;) {
        // Every block asks once in vain, which leaves the counter at 0 for the next launch.
        if (threadIdx.x == 0) shared.taken = atomicInc(taken, count + gridDim.x - 1);
        __syncthreads();   // also: the tables of the last u are no longer read
        const int at = shared.taken;
        if (at >= count) break;
        const i64 limit = u_limits[at] - first;
        __syncthreads();
        if (limit < 0) continue;
        const i64 natural = natural_order(us[at], U_LENGTH);
        prepare(shared, natural);
        const i64 weight = u_weights[at] * v_weight * (__popcll(natural) & 1 ? -1 : 1);
        Sum sum = {};
        // First the pairs below u's own class, which count twice; then the own class with
        // them again, as it counts once.
        for (int own = 0; own < 2; own++) {
            int waiting = 0;   // v's in the list
            Odd odd = {};
            Even even = {{0, 0}, 0};
            int begin = 0, end = words;
            if (own) {
                begin = limit >= 32ll * words ? end : int(limit >> 7) * 4;
                end = begin + 4 < end ? begin + 4 : end;
            }
            for (int chunk = begin; chunk < end; chunk += CHUNK) {
                const int w = chunk + 4 * threadIdx.x;
                Bits alive = {};
                if (w < end) alive = survivors_of(shared, members, rows, words, w, limit, own);
                int alive_count = 0;
                for (int k = 0; k < 4; k++) alive_count += __popc(alive.word[k]);
                found += alive_count;
                // Half of all v's fit the list; should some thread have more, then odd threads wait.
                const int turns = 1 + __syncthreads_or(alive_count > 64);
                for (int turn = 0; turn < turns; turn++) {
                    if (turn) __syncthreads();   // the list is no longer read
                    if (threadIdx.x == 0) shared.listed = waiting;
                    __syncthreads();
                    const bool listing = turns == 1 || threadIdx.x % 2 == turn;
                    u16 *slot = shared.list + atomicAdd(&shared.listed, listing ? alive_count : 0);
                    for (int k = 0; k < 4 && listing; k++) {
                        append(slot, alive.word[k], 32 * ((w + k) % SEGMENT_WORDS));
                        slot += __popc(alive.word[k]);
                    }
                    __syncthreads();
                    waiting = shared.listed;
                    // Full rounds now, the rest with the next words.  Keys are read a round ahead, E · ΣO
                    // is added a round behind; beyond the last pair the list holds old ones, with E = 0.
                    const int next = chunk + CHUNK, segment = chunk / SEGMENT_WORDS * SEGMENT_WORDS * 32;
                    const bool last = turn + 1 == turns && (next >= end || next % SEGMENT_WORDS < CHUNK);
                    const int least = last ? 1 : THREADS;
                    const u32 upper = u32(first) | segment;
                    Keys key = {};
                    auto read_keys = [&] {
                        const int from = waiting < THREADS ? 0 : waiting - THREADS;
                        if (waiting >= least && threadIdx.x < waiting)
                            key = keys[segment + shared.list[from + threadIdx.x]];
                    };
                    read_keys();
                    while (waiting >= least) {
                        const int round = waiting < THREADS ? waiting : THREADS;
                        waiting -= round;
                        const u16 *listed = shared.list + waiting + 32 * warp;
                        odd_parts(shared.parts[warp], shared.forms, matrix, listed, upper, [&] {
                            add_term(sum, odd, even);
                            even = even_product(key, shared.table);
                            if (threadIdx.x >= round) even.product = {0, 0};
                            read_keys();
                        });
                        __syncwarp();
                        odd = shared.parts[warp].sum();
                        __syncwarp();
                    }
                }
            }
            add_term(sum, odd, even);
            add(total, sum, weight);
        }
    }
    __syncwarp();
    if (threadIdx.x % 32 < LIMBS) {
        atomicAdd((u64 *)limbs + threadIdx.x % 32, (u64)total.limbs[threadIdx.x % 32]);
        atomicAdd((u64 *)residues + threadIdx.x % 32, (u64)total.residues[threadIdx.x % 32]);
    }
    atomicAdd(survivors, found);
}
