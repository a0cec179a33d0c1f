// The sum over binary necklaces on the GPU: rows on a circle, their words in stages, with a queue before each.
//
// A word has the m places of the circle as bits.  Warps run through the words of a task with 0 in the last six places,
// the heads, and pass those over that cannot represent a necklace, some at once where their first places show it.
// A thread takes a head, and with it the 64 words that differ only in the last six places: a table in shared memory
// has the set of those, among 32, whose factor for a difference is 0.  The words that remain are tested for the other
// differences, and the terms of those that pass are computed.
//
// Floor: of 2,048 words of a warp and a difference, 2 population counts for each thread (16 a cycle and
// multiprocessor) and 11.5 instructions for the arithmetic unit (64), so 6 cycles.
//
// Defined by the loader: PLACES (m), TARGETS (e_d by d, the first unused), ROWS of the table and its MIDDLE, PARTS
// (products of 15 factors), TERM_WORDS of 64 bits; THREADS, MIN_BLOCKS.

#include "integers.cuh"

constexpr int WARPS = THREADS / 32, QUEUE = 64, FACTORS = 15;
constexpr int HALF = PLACES / 2, FREE = 6, SPREAD = 8;   // SPREAD: places of heads that are passed over at once, at most
constexpr int ROW = 32 * 32 + 1;   // neighbouring heads often differ in the row alone: it chooses the bank
constexpr u64 full = ~0ull >> (64 - PLACES);

__device__ constexpr int targets[HALF + 1] = {TARGETS};

struct Shared {
    u32 vanishing[ROWS][ROW];
    u64 heads[WARPS][QUEUE], words[WARPS][QUEUE], terms[WARPS][QUEUE];
};

SHARED_MEMORY(Shared);

// A word, twice in a row.
struct Doubled {
    u32 part[5];

    __device__ explicit Doubled(u64 word) {
        const u64 low = word | (PLACES < 64 ? word << PLACES % 64 : 0), high = word >> (64 - PLACES);
        part[0] = low, part[1] = low >> 32, part[2] = high, part[3] = high >> 32, part[4] = 0;
    }
    // 32 bits, from place k on.
    __device__ u32 from(int k) const { return __funnelshift_r(part[k / 32], part[k / 32 + 1], k % 32); }
    // D_d: the places whose signs differ from those d places on.
    __device__ int differing(int d) const {
        return __popc((from(d) ^ part[0]) & u32(full)) + __popc((from(d + 32) ^ part[1]) & u32(full >> 32));
    }
};

// Bit k is set where place k has another sign than place k − 1.
__device__ inline u64 changes_of(u64 word) { return word ^ (word << 1 | word >> (PLACES - 1)) & full; }

// The places from which on there are `length` zeros; `zeros` has a 1 for each.
__device__ inline u64 runs_of(u64 zeros, int length) {
    int found = 1;
    for (; 2 * found <= length; found *= 2) zeros &= zeros >> found;
    return zeros & zeros >> (length - found);
}

// The last place of the first gap.
__device__ inline u64 first_of(int gap) { return 1ull << (PLACES - 1 - gap); }

// Whether a word can represent its necklace, as far as all but the last ``unknown`` changes show it.
__device__ inline bool can_be_first(u64 word, int gap, int unknown) {
    const u64 changes = changes_of(word) >> unknown << unknown, zeros = ~(changes | (1 << unknown) - 1) & full;
    const u64 runs = runs_of(zeros, gap);
    if (runs & zeros >> gap) return false;
    for (u64 gaps = runs & ~first_of(gap); gaps; gaps &= gaps - 1) {
        const int begin = __ffsll(gaps) - 1 + gap;
        const u64 other = (changes & (2ull << begin) - 1) >> unknown;
        if (other < changes >> (PLACES - 1 - begin + unknown)) return false;
    }
    return true;
}

// How many different rotations the changes of a word have; 0 if it does not represent its necklace.
__device__ inline int rotations_of(u64 word, int gap) {
    const u64 changes = changes_of(word), zeros = ~changes & full, runs = runs_of(zeros, gap);
    if (runs & zeros >> gap) return 0;
    int equal = 1;
    for (u64 gaps = runs & ~first_of(gap); gaps; gaps &= gaps - 1) {
        const int begin = __ffsll(gaps) - 1 + gap;
        const u64 other = (changes << (PLACES - 1 - begin) | changes >> (begin + 1)) & full;
        if (other < changes) return 0;
        equal += other == changes;
    }
    return PLACES / equal;
}

// Of the words with this head, those that have no factor of 0 for the differences from 6 on.
__device__ inline u64 alive_with(u64 head, const u32 *vanishing) {
    const Doubled word(head);
    u32 dead = 0, dead_with_sixth = 0;
#pragma unroll
    for (int d = FREE; d <= HALF; d++) {
        // Twice e_d − D_d/2 + 6, and both are even.  Others than 0 to 24 become 26: there, and in the rows beside
        // it, nothing vanishes.
        const u32 row = u32(2 * targets[d] + 12 - word.differing(d)), kept = row < 26 ? row : 26;
        const int behind = d < 7 ? d - 7 + PLACES : d - 7, before = PLACES - d - 2;
        const u32 column = (word.from(behind) & 31 << 7) | (word.from(before) & 31 << 2);
        const char *at = (const char *)vanishing + kept * (2 * ROW) + column;
        dead |= *(const u32 *)(at + 4 * ROW * (MIDDLE - 6));
        // With a 1 in the sixth place D_d/2 is larger by 1 less the bits d places behind and before it.
        const u32 two = (word.from(d + 5) & 1) + (word.from(PLACES - d + 5) & 1);
        dead_with_sixth |= *(const u32 *)(at + two * (4 * ROW) + 4 * ROW * (MIDDLE - 7));
    }
    return ~(u64(dead_with_sixth) << 32 | dead);
}

// Sums of terms in limbs whose carries wait (limbs.py), and the same modulo 2^64 − 1 by additions of their own:
// low + high · 2^32.
struct Total {
    i64 limbs[2 * TERM_WORDS], low, high;
    u64 found;
};

// Whether a word represents its necklace and has no factor of 0 for the differences below 6.
__device__ inline bool passes(u64 word, int gap) {
    const Doubled doubled(word);
    bool all = true;
#pragma unroll
    for (int d = 1; d < FREE && d <= HALF; d++) all &= doubled.differing(d) != 2 * targets[d];
    return all && rotations_of(word, gap);
}

// Adds the term of a word.
__device__ inline void add_term(u64 word, int gap, Total &total) {
    const int rotations = rotations_of(word, gap);
    const Doubled doubled(word);
    const int ones = __popcll(word), times = PLACES % 2 ? (PLACES - 2 * ones) * rotations : rotations;
    bool minus = ones & 1 ^ (times < 0);
    u64 part[PARTS];
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        u64 product = 1;
#pragma unroll
        for (int d = 1 + FACTORS * p; d <= HALF && d <= FACTORS * (p + 1); d++) {
            const int factor = targets[d] - doubled.differing(d) / 2;
            minus ^= factor < 0;
            product *= u32(factor < 0 ? -factor : factor);
        }
        if (!product) return;
        part[p] = product;
    }
    total.found++;
    u64 words[TERM_WORDS] = {u64(times < 0 ? -times : times)};
#pragma unroll
    for (int p = 0; p < PARTS; p++) {
        u64 carry = 0;
#pragma unroll
        for (int k = 0; k < TERM_WORDS; k++) {
            const unsigned __int128 product = (unsigned __int128)words[k] * part[p] + carry;
            words[k] = product;
            carry = product >> 64;
        }
    }
#pragma unroll
    for (int k = 0; k < TERM_WORDS; k++) {
        const i64 low = words[k] & 0xFFFFFFFF, high = words[k] >> 32;
        total.limbs[2 * k] += minus ? -low : low;
        total.limbs[2 * k + 1] += minus ? -high : high;
        total.low += minus ? -low : low;
        total.high += minus ? -high : high;
    }
}

// A queue of words of a warp.
struct Queue {
    u64 *words;
    int waiting;

    // Puts the words of some lanes into it.  Whether there are 32 to take.
    __device__ bool put(bool real, u64 word) {
        const u32 all = __ballot_sync(~0u, real);
        if (real) words[waiting + __popc(all & ((1u << threadIdx.x % 32) - 1))] = word;
        waiting += __popc(all);
        __syncwarp();
        return waiting >= 32;
    }
    // Takes 32 words out, or as many as there are; whether there is one for this lane.
    __device__ bool take(u64 &word) {
        const int lane = threadIdx.x % 32, taken = waiting < 32 ? waiting : 32;
        waiting -= taken;
        if (lane < taken) word = words[waiting + lane];
        __syncwarp();
        return lane < taken;
    }
};

// Adds the terms of all words of a task to limbs and residues.
//   start: the prefix; free: places behind it; table [ROWS][32][32]: see tables.py.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
necklace(i64 start, int free, int gap, const u32 *table, i64 *limbs, i64 *residues, u64 *found) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    for (int k = threadIdx.x; k < ROWS << 10; k += THREADS) shared.vanishing[k >> 10][k & 1023] = table[k];
    __syncthreads();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Queue heads = {shared.heads[warp], 0}, words = {shared.words[warp], 0}, terms = {shared.terms[warp], 0};
    Total total = {};
    const int spread = free - FREE < SPREAD ? free - FREE : SPREAD;
    const i64 beginnings = 1ll << (free - FREE - spread), step = gridDim.x * i64(WARPS) * 32;
    i64 first = 32 * (blockIdx.x * i64(WARPS) + warp) - step;
    u32 passing = 0;      // the beginnings of heads from `first` on that are to come
    int at = 1 << spread; // the next head of the one that is being gone through
    u64 beginning = 0, word = 0;
    for (bool more = true; more;) {
        if (at >= 1 << spread && !passing) {
            first += step;
            more = first < beginnings;
            const u64 next = u64(start) | u64(first + lane) << (FREE + spread);
            passing = __ballot_sync(~0u, first + lane < beginnings && can_be_first(next, gap, FREE + spread + 1));
            if (more && !passing) continue;
        }
        if (at >= 1 << spread && more) {
            at = 0;
            beginning = u64(start) | u64(first + __ffsll(passing) - 1) << (FREE + spread);
            passing &= passing - 1;
        }
        // After the last head, the queues are emptied.
        const u64 head = beginning | u64(at + lane) << FREE;
        if (!heads.put(more && at + lane < 1 << spread && can_be_first(head, gap, FREE + 1), head) && more) {
            at += 32;
            continue;
        }
        at += 32;
        u64 alive = heads.take(word) ? alive_with(word, shared.vanishing[0]) : 0;
        for (const u64 taken = word; __any_sync(~0u, alive != 0) || (!more && words.waiting); alive &= alive - 1) {
            if (!words.put(alive != 0, taken | u64(__ffsll(alive) - 1)) && more) continue;
            const bool real = words.take(word);
            if (terms.put(real && passes(word, gap), word) && terms.take(word)) add_term(word, gap, total);
        }
    }
    if (terms.take(word)) add_term(word, gap, total);
    __syncwarp();
    // Carries are spread where a limb is added up over the warp.
    i64 carry = 0;
#pragma unroll
    for (int k = 0; k < 2 * TERM_WORDS; k++) {
        carry += over_warp(total.limbs[k]);
        if (lane == 0) atomicAdd((u64 *)limbs + k, (u64)(k < 2 * TERM_WORDS - 1 ? carry & 0xFFFFFFFF : carry));
        carry >>= 32;
    }
    const i64 low = over_warp(total.low), high = over_warp(total.high), count = over_warp(total.found);
    if (lane == 0) {
        // low + high · 2^32 in three digits
        const i64 middle = (low >> 32) + high;
        atomicAdd((u64 *)residues, (u64)(low & 0xFFFFFFFF));
        atomicAdd((u64 *)residues + 1, (u64)(middle & 0xFFFFFFFF));
        atomicAdd((u64 *)residues + 2, (u64)(middle >> 32));
        atomicAdd(found, (u64)count);
    }
}
