// Polyphase sum on the GPU: one tile of v's against many u's.
//
// One block takes one u at a time.  It builds, in shared memory, the table of rows for the
// high bits of v and the one for the low six bits (as the CPU kernel does), and the table of
// even products.  Then each warp finds the v's without a vanishing even sum by or-ing bitmaps,
// lists them, and gives each of its threads one survivor after the other.
//
// A row packs odd sums as bytes, four images (lanes) to a word: words 0 … FORMS−1 hold the
// images (u,v), (ru,v), (u,rv), (ru,rv) form by form, words FORMS … 2·FORMS−1 the same after
// "alt".  Rows are added as plain integers, with borrows; the bias of 128 per byte in the
// high rows makes every byte of the sum non-negative, and flipping the top bits turns it
// back into a signed byte: |S_d| < 128.
//
// Defined by the loader (source.py): U_LENGTH, V_LENGTH, OFFSET; FORMS, ODD (half-lags in
// groups), GROUP_ENDS (where each int32 product ends), FOUR_GROUPS (whether the last is used);
// EVENS, SHIFTS, LENGTHS, STRIDES, PAIRS, OFFSETS, TABLE (even table), EVEN_PAIRS (pairs whose
// product fits 64 bits; the first 3 and the next 3 fit 32 bits each), SPLIT_SUM (whether E times
// the halves of ΣO can be summed apart); ALT_SIGN; THREADS, MIN_BLOCKS.

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef short i16;
typedef __int128 wide;

constexpr int LOW_BITS = 6, BLOCK_BITS = 14;
constexpr int WARPS = THREADS / 32, LIST = 32 * 32 + 32;
constexpr int WORDS = 2 * FORMS;
// Rows start on 16 bytes: read four words at a time.
constexpr int ROW = (WORDS + 3) / 4 * 4;
constexpr int HIGH_ROWS = 1 << (BLOCK_BITS - LOW_BITS);
constexpr int LOW_ROWS = 1 << LOW_BITS;
constexpr u32 BIAS = 0x80808080u;

__device__ constexpr int odd_lag[FORMS] = {ODD};
__device__ constexpr int group_end[4] = {GROUP_ENDS};
__device__ constexpr int shift_of[EVENS + 1] = {SHIFTS};
__device__ constexpr int terms_of[2 * PAIRS] = {LENGTHS};
__device__ constexpr int stride_of[PAIRS] = {STRIDES};
__device__ constexpr int offset_of[PAIRS + 1] = {OFFSETS};

constexpr int QUADS = ROW / 4;
struct alignas(16) Quad { u32 word[4]; };

// A sum of terms E · ΣO: low + middle · 2^64 + high · 2^28, low a sum of unsigned words.
struct Sum {
    wide low, middle, high;
};

// Element k of the component whose paired-order bits are given: +1, −1, or 0 outside.
__device__ inline int sign_at(i64 natural, int k, int length) {
    return k < 0 || k >= length ? 0 : 1 - 2 * int(natural >> k & 1);
}

__device__ inline i64 natural_order(i64 component, int length) {
    i64 natural = 0;
    for (int step = 0; step < length; step++) {
        int element = step & 1 ? length - 1 - step / 2 : step / 2;
        natural |= (component >> (length - 1 - step) & 1) << element;
    }
    return natural;
}

// What bit `bit` of v adds, while it is 0, to the four sums packed in `word` of a row.
__device__ inline int coefficients(i64 natural, int bit, int word) {
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
__device__ inline int lane_of(u32 word, int lane) {
#ifdef LANGFORD_HOST
    return (signed char)(word >> 8 * lane);
#else
    // __byte_perm would mask the selector's sign bits.
    int byte;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(byte) : "r"(word), "r"(0x8880 | lane * 0x1111));
    return byte;
#endif
}

// Adds E · ΣO of the survivor whose rows and keys are given.
__device__ inline void add_term(Sum &sum, const Quad *high, const Quad *low, const u16 *keys,
                                const i16 *table) {
    u32 row[ROW];
#pragma unroll
    for (int k = 0; k < QUADS; k++) {
        const Quad a = high[k], b = low[k];
#pragma unroll
        for (int i = 0; i < 4; i++) row[4 * k + i] = (a.word[i] + b.word[i]) ^ BIAS;
    }
    // O = A · B, A = groups 0 and 1, B = groups 2 and 3.  A is split so that signed 32-bit
    // multiplications into 64-bit sums suffice: A = A1 · 2^28 + A0, and B likewise.
    i64 high_high = 0, high_low = 0, low_low = 0;
#pragma unroll
    for (int image = 0; image < 8; image++) {
        int group[4];
#pragma unroll
        for (int g = 0; g < 4; g++) {
            int product = 1;
            int begin = g ? group_end[g - 1] : 0;
#pragma unroll
            for (int form = 0; form < FORMS; form++)
                if (form >= begin && form < group_end[g])
                    product *= lane_of(row[form + (image & 4 ? FORMS : 0)], image & 3);
            group[g] = product;
        }
        i64 a = i64(group[0]) * group[1];
#if !FOUR_GROUPS
        high_low += i64(int(a >> 28)) * group[2];
        low_low += i64(int(a & 0xFFFFFFF)) * group[2];
#else
        i64 b = i64(group[2]) * group[3];
        int a1 = a >> 28, a0 = a & 0xFFFFFFF, b1 = b >> 28, b0 = b & 0xFFFFFFF;
        high_high += i64(a1) * b1;
        high_low += i64(a1) * b0 + i64(a0) * b1;
        low_low += i64(a0) * b0;
#endif
    }
    const Quad key = *reinterpret_cast<const Quad *>(keys);
    int cells[PAIRS];
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++)
        cells[pair] = table[key.word[pair / 2] >> 16 * (pair & 1) & 0xFFFF];
    int even_a = 1, even_b = 1;
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++) {
        if (pair < 3) even_a *= cells[pair];
        else if (pair < 6) even_b *= cells[pair];
    }
    i64 even = i64(even_a) * even_b;
#pragma unroll
    for (int pair = 6; pair < EVEN_PAIRS; pair++) even *= cells[pair];
#if SPLIT_SUM
    wide product = (wide)even * low_low;
    sum.low += (u64)product;
    sum.middle += (i64)(product >> 64);
    sum.high += (wide)even * high_low;
#else
    wide odd = ((wide)high_high << 56) + ((wide)high_low << 28) + low_low;
#pragma unroll
    for (int pair = EVEN_PAIRS; pair < PAIRS; pair++) odd *= cells[pair];
    // even (signed) times the two words of odd (the low one unsigned).
    wide first = (wide)even * (wide)(u64)odd;
    sum.low += (u64)first;
    sum.middle += (wide)even * (i64)(odd >> 64) + (i64)(first >> 64);
#endif
}

// The sum of a thread over all of its u's, weighted: low + middle · 2^64 +
// (high_low + high_high · 2^64) · 2^28; and the same modulo 2^64 − 1.
struct Total {
    wide low, middle, high_low, high_high, residue;
};

__device__ inline void add(Total &total, const Sum &sum, i64 weight) {
    const u64 high_low = (u64)sum.high;
    const i64 high_high = (i64)(sum.high >> 64);
    total.low += weight * sum.low;
    total.middle += weight * sum.middle;
    total.high_low += weight * (wide)high_low;
    total.high_high += weight * (wide)high_high;
    // 2^64 ≡ 1.
    total.residue += weight * (sum.low + sum.middle + (((wide)high_low + high_high) << 28));
}

__device__ inline Quad operator+(Quad a, Quad b) {
    for (int i = 0; i < 4; i++) a.word[i] += b.word[i];
    return a;
}
__device__ inline Quad operator-(Quad a, Quad b) {
    for (int i = 0; i < 4; i++) a.word[i] -= b.word[i];
    return a;
}

// rows[x] = base + what the bits from `from` to `to` of v add, x giving the first log2(count)
// of them and `position` those above.
__device__ inline void fill_rows(Quad *rows, int count, const Quad *steps, const Quad *base,
                                 int from, int to, i64 position) {
    for (int cell = threadIdx.x; cell < count * QUADS; cell += THREADS) {
        int x = cell / QUADS, quad = cell % QUADS;
        Quad sum = {};
        if (base) sum = base[quad];
        for (int bit = from; bit < to; bit++) {
            bool minus = (1 << (bit - from) < count ? x >> (bit - from) : position >> bit) & 1;
            Quad step = steps[bit * QUADS + quad];
            sum = minus ? sum - step : sum + step;
        }
        rows[x * QUADS + quad] = sum;
    }
}

__device__ inline void add_digits(i64 *limbs, wide value, int first) {
    for (int k = 0; k < 3; k++)
        atomicAdd((u64 *)limbs + first + k, (u64)(value >> 32 * k & 0xFFFFFFFF));
    atomicAdd((u64 *)limbs + first + 3, (u64)(i64)(value >> 96));
}

// Adds Σ f |H u| |K v| F(u, v) over `count` u's and the v's of the tile that are in
// `members` (all with |K v| = v_weight) to the carry-save numbers limbs and residues.
//   us, u_weights, u_limits [count]; first, bits: the tile is first … first + 2^bits − 1,
//   bits ≤ 18; members [words of 32]; rows [EVENS][V_LENGTH + 1][words of 32];
//   keys [2^bits][8].
constexpr int SHARED = 16 * QUADS * (HIGH_ROWS + LOW_ROWS + 32 + V_LENGTH + 1) +
                       4 * (2 * EVENS + 2 + WARPS) + 2 * WARPS * LIST + 2 * TABLE;
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
polyphase(const i64 *us, const i64 *u_weights, const i64 *u_limits, int count,
          i64 first, int bits, const u32 *members, const u32 *rows,
          const u16 *keys, int v_weight, i64 *limbs, i64 *residues,
          u64 *survivors) {
    Quad *const high = reinterpret_cast<Quad *>(shared);
    Quad *const low = high + HIGH_ROWS * QUADS;
    Quad *const middle = low + LOW_ROWS * QUADS;
    Quad *const upper = middle + 16 * QUADS;
    Quad *const steps = upper + 16 * QUADS;
    Quad *const base = steps + V_LENGTH * QUADS;
    int *const lags = reinterpret_cast<int *>(base + QUADS);
    int *const dead_row = lags + EVENS + 1;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int *const listed = dead_row + EVENS + 1 + warp;
    u16 *const lists = reinterpret_cast<u16 *>(dead_row + EVENS + 1 + WARPS);
    u16 *const list = lists + warp * LIST;
    i16 *const table = reinterpret_cast<i16 *>(lists + WARPS * LIST);

    const int words = bits > 6 ? 1 << (bits - 5) : 2;
    const int block_bits = bits < BLOCK_BITS ? bits : BLOCK_BITS;
    Total total = {};
    u64 found = 0;
    for (int at = blockIdx.x; at < count; at += gridDim.x) {
        const i64 natural = natural_order(us[at], U_LENGTH);
        const i64 limit = u_limits[at] - first;
        if (limit < 0) continue;
        __syncthreads();   // the tables of the last u are no longer read
        if (threadIdx.x < EVENS) {
            int terms = U_LENGTH - shift_of[threadIdx.x];
            terms = terms < 0 ? 0 : terms;
            u64 differing = (natural ^ natural >> shift_of[threadIdx.x]) & ((1ull << terms) - 1);
            int lag = terms - 2 * __popcll(differing);
            int length = V_LENGTH > shift_of[threadIdx.x] ? V_LENGTH - shift_of[threadIdx.x] : 0;
            lags[threadIdx.x] = lag;
            dead_row[threadIdx.x] = lag > length || lag < -length
                                        ? -1 : threadIdx.x * (V_LENGTH + 1) + (length - lag) / 2;
        }
        for (int cell = threadIdx.x; cell < V_LENGTH * ROW; cell += THREADS)
            steps[cell / 4].word[cell % 4] =
                cell % ROW < WORDS ? coefficients(natural, cell / ROW, cell % ROW) : 0;
        __syncthreads();
        fill_rows(low, LOW_ROWS, steps, nullptr, 0, bits < LOW_BITS ? bits : LOW_BITS, 0);
        // The bits above the tile, and the bias, are the same for all of its v's.
        for (int word = threadIdx.x; word < ROW; word += THREADS) {
            u32 sum = BIAS;
            for (int bit = bits; bit < V_LENGTH; bit++) {
                u32 step = steps[bit * QUADS + word / 4].word[word % 4];
                sum += first >> bit & 1 ? -step : step;
            }
            base[word / 4].word[word % 4] = sum;
        }
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
        const i64 weight = u_weights[at] * v_weight * (__popcll(natural) & 1 ? -1 : 1);
        Sum sum = {};
        for (int start = 0; start < 1 << bits && start <= limit; start += 1 << BLOCK_BITS) {
            __syncthreads();   // base is ready; the rows of the last block are no longer read
            // Rows of bits 6–9, with the bits above the tile, and of 10–13, with those between.
            const int split = block_bits < LOW_BITS + 4 ? block_bits : LOW_BITS + 4;
            fill_rows(middle, 16, steps, base, LOW_BITS, split, 0);
            fill_rows(upper, 16, steps, nullptr, LOW_BITS + 4, bits, start);
            __syncthreads();
            for (int cell = threadIdx.x; cell < HIGH_ROWS * QUADS; cell += THREADS) {
                int row = cell / QUADS, quad = cell % QUADS;
                high[cell] = middle[(row & 15) * QUADS + quad] + upper[(row >> 4) * QUADS + quad];
            }
            __syncthreads();
            int waiting = 0;   // v's in the list
            const int chunks = 1 << (BLOCK_BITS - 5);
            for (int chunk = 32 * warp; chunk < chunks; chunk += THREADS) {
                const int w = start / 32 + chunk + lane;
                u32 alive = 0;
                if (w < words) {
                    u32 dead = 0;
#pragma unroll
                    for (int i = 0; i < EVENS; i++)
                        if (dead_row[i] >= 0) dead |= rows[dead_row[i] * words + w];
                    alive = members[w] & ~dead;
                }
                // v's above u's class belong to another pair.
                const i64 above = limit - 32ll * w;
                if (above < 31) alive &= above < 0 ? 0u : (2u << above) - 1;
                if (lane == 0) *listed = waiting;
                __syncwarp();
                int slot = atomicAdd(listed, __popc(alive));
                for (; alive; alive &= alive - 1)
                    list[slot++] = 32 * (chunk + lane) + __ffs(alive) - 1;
                __syncwarp();
                waiting = *listed;
                // Full rounds now, the rest with the next words.
                const bool last = chunk + THREADS >= chunks;
                while (waiting >= 32 || (last && waiting > 0)) {
                    const int round = waiting < 32 ? waiting : 32;
                    waiting -= round;
                    if (lane >= round) continue;
                    const int x = list[waiting + lane];
                    const u16 *key = keys + 8 * (start + x);
                    const Quad *row_a = high + (x >> LOW_BITS) * QUADS, *row_b = low + (x & 63) * QUADS;
                    add_term(sum, row_a, row_b, key, table);
                    found++;
                    if (start + x == limit) {   // u's own class counts once, not twice
                        Sum own = {};
                        add_term(own, row_a, row_b, key, table);
                        add(total, own, -weight);
                    }
                }
                __syncwarp();
            }
        }
        add(total, sum, 2 * weight);
    }
    add_digits(limbs, total.low, 0);
    add_digits(limbs, total.middle, 2);
    add_digits(limbs, total.high_low << 28, 0);
    add_digits(limbs, total.high_high << 28, 2);
    add_digits(residues, total.residue, 0);
    atomicAdd(survivors, found);
}
