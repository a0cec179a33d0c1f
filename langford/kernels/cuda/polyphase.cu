// Polyphase sum on the GPU: one tile of v's against many u's.
//
// One block takes one u at a time.  It builds, in shared memory, the table of rows for the
// high bits of v and the one for the low six bits (as the CPU kernel does), and the table of
// even products; finds the v's without a vanishing even sum by or-ing bitmaps; lists them;
// and gives each thread one survivor after the other.
//
// A row packs odd sums as bytes, four images (lanes) to a word: words 0 … FORMS−1 hold the
// images (u,v), (ru,v), (u,rv), (ru,rv) form by form, words FORMS … 2·FORMS−1 the same after
// "alt".  Rows are added as plain integers, with borrows; the bias of 128 per byte in the
// high rows makes every byte of the sum non-negative, and flipping the top bits turns it
// back into a signed byte: |S_d| < 128.
//
// Defined by the loader (source.py): U_LENGTH, V_LENGTH, OFFSET; FORMS, ODD (half-lags in
// groups), GROUP_ENDS (where each int32 product ends), FOUR_GROUPS (whether the last is used);
// EVENS, SHIFTS, LENGTHS, STRIDES, PAIRS, EVEN_PAIRS (those whose product fits 64 bits),
// OFFSETS, TABLE (even table); ALT_SIGN; THREADS, MIN_BLOCKS.

#ifndef LANGFORD_HOST
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned int uint32_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef short int16_t;
#endif

typedef __int128 wide;

constexpr int LOW_BITS = 6, BLOCK_BITS = 14, PASS_BITS = 13;
constexpr int WORDS = 2 * FORMS;
// Rows start on 16 bytes: read four words at a time.
constexpr int ROW = (WORDS + 3) / 4 * 4;
constexpr int HIGH_ROWS = 1 << (BLOCK_BITS - LOW_BITS);
constexpr int LOW_ROWS = 1 << LOW_BITS;
constexpr uint32_t BIAS = 0x80808080u;

__device__ constexpr int odd_lag[FORMS] = {ODD};
__device__ constexpr int group_end[4] = {GROUP_ENDS};
__device__ constexpr int shift_of[EVENS + 1] = {SHIFTS};
__device__ constexpr int terms_of[2 * PAIRS] = {LENGTHS};
__device__ constexpr int stride_of[PAIRS] = {STRIDES};
__device__ constexpr int offset_of[PAIRS + 1] = {OFFSETS};

struct alignas(16) Quad { uint32_t word[4]; };

// Sum of the terms E · ΣO of one u, and the same modulo 2^64 − 1 (the words added up).
struct Sum {
    wide low, high, residue;   // value = low + high · 2^64
};

// Element k of the component whose paired-order bits are given: +1, −1, or 0 outside.
__device__ inline int sign_at(int64_t natural, int k, int length) {
    return k < 0 || k >= length ? 0 : 1 - 2 * int(natural >> k & 1);
}

__device__ inline int64_t natural_order(int64_t component, int length) {
    int64_t natural = 0;
    for (int step = 0; step < length; step++) {
        int element = step & 1 ? length - 1 - step / 2 : step / 2;
        natural |= (component >> (length - 1 - step) & 1) << element;
    }
    return natural;
}

// What bit `bit` of v adds, while it is 0, to the four sums packed in `word` of a row.
__device__ inline int coefficients(int64_t natural, int bit, int word) {
    int step = V_LENGTH - 1 - bit;
    int element = step & 1 ? V_LENGTH - 1 - step / 2 : step / 2;
    bool alt = word >= FORMS;
    int form = alt ? word - FORMS : word, packed = 0;
    for (int lane = 3; lane >= 0; lane--) {
        int position = OFFSET + (lane & 2 ? V_LENGTH - 1 - element : element);
        int before = position - odd_lag[form], after = position + odd_lag[form] + 1;
        if (lane & 1) { before = U_LENGTH - 1 - before; after = U_LENGTH - 1 - after; }
        int a = sign_at(natural, before, U_LENGTH), b = sign_at(natural, after, U_LENGTH);
        int sum = alt ? (a - b) * (form == 0 ? ALT_SIGN : 1) : a + b;
        packed = packed * 256 + sum;
    }
    return packed;
}

// Byte `lane` of a word, sign-extended.
__device__ inline int lane_of(uint32_t word, int lane) {
#ifdef LANGFORD_HOST
    return int8_t(word >> 8 * lane);
#else
    // __byte_perm would mask the selector's sign bits.
    int byte;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(byte) : "r"(word), "r"(0x8880 | lane * 0x1111));
    return byte;
#endif
}

// Adds E · ΣO of the survivor whose rows and keys are given.
__device__ inline void add_term(Sum &sum, const uint32_t *high, const uint32_t *low,
                                const uint16_t *keys, const int16_t *table) {
    uint32_t row[ROW];
#pragma unroll
    for (int k = 0; k < ROW; k += 4) {
        Quad a = *reinterpret_cast<const Quad *>(high + k);
        Quad b = *reinterpret_cast<const Quad *>(low + k);
#pragma unroll
        for (int i = 0; i < 4; i++) row[k + i] = (a.word[i] + b.word[i]) ^ BIAS;
    }
    // O = A · B, A = groups 0 and 1, B = groups 2 and 3.  A is split so that signed 32-bit
    // multiplications into 64-bit sums suffice: A = A1 · 2^28 + A0, and B likewise.
    int64_t high_high = 0, high_low = 0, low_low = 0;
#pragma unroll
    for (int image = 0; image < 8; image++) {
        int32_t group[4];
#pragma unroll
        for (int g = 0; g < 4; g++) {
            int32_t product = 1;
            int begin = g ? group_end[g - 1] : 0;
#pragma unroll
            for (int form = 0; form < FORMS; form++)
                if (form >= begin && form < group_end[g])
                    product *= lane_of(row[form + (image & 4 ? FORMS : 0)], image & 3);
            group[g] = product;
        }
        int64_t a = int64_t(group[0]) * group[1];
#if !FOUR_GROUPS
        high_low += int64_t(int32_t(a >> 28)) * group[2];
        low_low += int64_t(int32_t(a & 0xFFFFFFF)) * group[2];
#else
        int64_t b = int64_t(group[2]) * group[3];
        int32_t a1 = a >> 28, a0 = a & 0xFFFFFFF, b1 = b >> 28, b0 = b & 0xFFFFFFF;
        high_high += int64_t(a1) * b1;
        high_low += int64_t(a1) * b0 + int64_t(a0) * b1;
        low_low += int64_t(a0) * b0;
#endif
    }
    wide odd = ((wide)high_high << 56) + ((wide)high_low << 28) + low_low;
    const Quad key = *reinterpret_cast<const Quad *>(keys);
    int64_t even = 1;
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        int cell = table[key.word[pair / 2] >> 16 * (pair & 1) & 0xFFFF];
        if (pair < EVEN_PAIRS) even *= cell;
        else odd *= cell;
    }
    // even (signed) times the two words of odd (low one unsigned).
    wide first = (wide)even * (wide)(uint64_t)odd;
    wide second = (wide)even * (int64_t)(odd >> 64);
    uint64_t word = (uint64_t)first;
    second += (int64_t)(first >> 64);
    sum.low += word;
    sum.high += second;
    sum.residue += (wide)word + (uint64_t)second + (int64_t)(second >> 64);
}

// rows[x] = what the bits from `from` on add to a row, x giving the next log2(count) of them.
// With `position` (whose lower bits are 0) also the bits above BLOCK_BITS, and the bias.
__device__ inline void fill_rows(uint32_t *rows, int count, const int *steps, int from, int bits,
                                 int64_t position) {
    const bool base = from == LOW_BITS;
    const int block_bits = bits < BLOCK_BITS ? bits : BLOCK_BITS;
    for (int cell = threadIdx.x; cell < count * WORDS; cell += THREADS) {
        int x = cell / WORDS, word = cell % WORDS, sum = base ? BIAS : 0;
        for (int k = 0; 1 << k < count && from + k < block_bits; k++) {
            int step = steps[(from + k) * WORDS + word];
            sum += x >> k & 1 ? -step : step;
        }
        for (int bit = block_bits; base && bit < V_LENGTH; bit++) {
            int step = steps[bit * WORDS + word];
            sum += position >> bit & 1 ? -step : step;
        }
        rows[x * ROW + word] = sum;
    }
}

__device__ inline void add_digits(int64_t *limbs, wide value, int first) {
    for (int k = 0; k < 3; k++)
        atomicAdd((uint64_t *)limbs + first + k, (uint64_t)(value >> 32 * k & 0xFFFFFFFF));
    atomicAdd((uint64_t *)limbs + first + 3, (uint64_t)(int64_t)(value >> 96));
}

// Adds Σ f |H u| |K v| F(u, v) over `count` u's and the v's of the tile that are in
// `members` (all with |K v| = v_weight) to the carry-save numbers limbs and residues.
//   us, u_weights, u_limits [count]; first, bits: the tile is first … first + 2^bits − 1,
//   bits ≤ 17; members [words of 32]; rows [EVENS][V_LENGTH + 1][words of 32];
//   keys [2^bits][8].
constexpr int SHARED = 4 * ROW * (HIGH_ROWS + LOW_ROWS + 32) + 4 * (V_LENGTH * WORDS + 2 * EVENS + 3) +
                       2 * (1 << PASS_BITS) + 2 * TABLE;
#ifdef LANGFORD_HOST
alignas(16) static unsigned char shared[SHARED];
#else
extern __shared__ uint4 shared[];
__device__ constexpr int shared_bytes = SHARED;
#endif

extern "C" __global__ void
#ifndef LANGFORD_HOST
__launch_bounds__(THREADS, MIN_BLOCKS)
#endif
polyphase(const int64_t *us, const int64_t *u_weights, const int64_t *u_limits, int count,
          int64_t first, int bits, const uint32_t *members, const uint32_t *rows,
          const uint16_t *keys, int v_weight, int64_t *limbs, int64_t *residues,
          uint64_t *survivors) {
    uint32_t *const high = reinterpret_cast<uint32_t *>(shared);
    uint32_t *const low = high + HIGH_ROWS * ROW;
    uint32_t *const middle = low + LOW_ROWS * ROW;
    uint32_t *const upper = middle + 16 * ROW;
    int *const steps = reinterpret_cast<int *>(upper + 16 * ROW);
    int *const lags = steps + V_LENGTH * WORDS;
    int *const dead_row = lags + EVENS + 1;
    int *const listed = dead_row + EVENS + 1;
    uint16_t *const list = reinterpret_cast<uint16_t *>(listed + 1);
    int16_t *const table = reinterpret_cast<int16_t *>(list + (1 << PASS_BITS));

    const int words = bits > 6 ? 1 << (bits - 5) : 2;
    Sum total = {0, 0, 0};
    uint64_t found = 0;
    for (int at = blockIdx.x; at < count; at += gridDim.x) {
        const int64_t natural = natural_order(us[at], U_LENGTH);
        const int64_t limit = u_limits[at] - first;
        if (limit < 0) continue;
        __syncthreads();   // the tables of the last u are no longer read
        if (threadIdx.x < EVENS) {
            int terms = U_LENGTH - shift_of[threadIdx.x];
            terms = terms < 0 ? 0 : terms;
            uint64_t differing = (natural ^ natural >> shift_of[threadIdx.x]) & ((1ull << terms) - 1);
            int lag = terms - 2 * __popcll(differing);
            int length = V_LENGTH > shift_of[threadIdx.x] ? V_LENGTH - shift_of[threadIdx.x] : 0;
            lags[threadIdx.x] = lag;
            dead_row[threadIdx.x] = lag > length || lag < -length ? -1 : (length - lag) / 2;
        }
        for (int cell = threadIdx.x; cell < V_LENGTH * WORDS; cell += THREADS)
            steps[cell] = coefficients(natural, cell / WORDS, cell % WORDS);
        __syncthreads();
        fill_rows(low, LOW_ROWS, steps, 0, bits, 0);
        for (int pair = 0; pair < PAIRS; pair++) {
            int cells = (offset_of[pair + 1] - offset_of[pair]) / (pair ? 1 : 2);
            for (int cell = threadIdx.x; cell < cells; cell += THREADS) {
                int y = cell / stride_of[pair], z = cell % stride_of[pair], product = 1;
                if (2 * pair < EVENS) product = (lags[2 * pair] + 2 * y - terms_of[2 * pair]) / 2;
                if (2 * pair + 1 < EVENS)
                    product *= (lags[2 * pair + 1] + 2 * z - terms_of[2 * pair + 1]) / 2;
                table[offset_of[pair] + cell] = product;
                if (!pair) table[cells + cell] = -product;
            }
        }
        const int64_t weight = u_weights[at] * v_weight * (__popcll(natural) & 1 ? -1 : 1);
        Sum sum = {0, 0, 0};
        for (int start = 0; start < 1 << bits && start <= limit; start += 1 << BLOCK_BITS) {
            // Rows of bits 6–9, with all bits above the block, and of bits 10–13.
            fill_rows(middle, 16, steps, LOW_BITS, bits, first + start);
            fill_rows(upper, 16, steps, LOW_BITS + 4, bits, 0);
            __syncthreads();
            for (int cell = threadIdx.x; cell < HIGH_ROWS * WORDS; cell += THREADS) {
                int row = cell / WORDS, word = cell % WORDS;
                high[row * ROW + word] =
                    middle[(row & 15) * ROW + word] + upper[(row >> 4) * ROW + word];
            }
            const int end = words < (start + (1 << BLOCK_BITS)) / 32 ? words : (start + (1 << BLOCK_BITS)) / 32;
            for (int pass = start / 32; pass < end; pass += 1 << (PASS_BITS - 5)) {
                __syncthreads();   // tables ready; the list of the last pass is no longer read
                if (threadIdx.x == 0) *listed = 0;
                __syncthreads();
                for (int w = pass + threadIdx.x; w < end && w < pass + (1 << (PASS_BITS - 5)); w += THREADS) {
                    uint32_t alive = members[w];
#pragma unroll
                    for (int i = 0; i < EVENS; i++)
                        if (dead_row[i] >= 0)
                            alive &= ~rows[(i * (V_LENGTH + 1) + dead_row[i]) * words + w];
                    // v's above u's class belong to another pair.
                    int64_t above = limit - 32ll * w;
                    if (above < 31) alive &= above < 0 ? 0u : (2u << above) - 1;
                    int slot = atomicAdd(listed, __popc(alive));
                    for (; alive; alive &= alive - 1)
                        list[slot++] = 32 * w - start + __ffs(alive) - 1;
                }
                __syncthreads();
                for (int k = threadIdx.x; k < *listed; k += THREADS) {
                    int x = list[k];
                    const uint16_t *key = keys + 8 * (start + x);
                    const uint32_t *row_a = high + (x >> LOW_BITS) * ROW, *row_b = low + (x & 63) * ROW;
                    add_term(sum, row_a, row_b, key, table);
                    if (start + x == limit) {   // u's own class counts once, not twice
                        Sum own = {0, 0, 0};
                        add_term(own, row_a, row_b, key, table);
                        total.low -= weight * own.low;
                        total.high -= weight * own.high;
                        total.residue -= weight * own.residue;
                    }
                    found++;
                }
            }
        }
        total.low += 2 * weight * sum.low;
        total.high += 2 * weight * sum.high;
        total.residue += 2 * weight * sum.residue;
    }
    add_digits(limbs, total.low, 0);
    add_digits(limbs, total.high, 2);
    add_digits(residues, total.residue, 0);
    atomicAdd(survivors, found);
}
