// Godfrey's sum on the GPU, point by point in Gray-code order: the baseline of the polyphase form
// and an independent second kernel.
//
// A thread fixes the free places, and walks the 2^BLOCK signs of the block places.  Its sums S_d are
// bytes of packed words, biased by 64.  A step flips one block place; what that changes by other
// block places alone is the same for all threads and lies in constant memory, what it changes by the
// places outside is one packed row per block place, kept by the thread.  Points without a vanishing
// sum are queued per warp and multiplied 32 at a time.
//
// Defined by the loader: SUMS, DIFFERENCES, FOLD (how often each sum is a factor), LINKS (byte of each sum in the
// packed words), WORDS of 32 bits, VANISHING (words whose sums can vanish), FILLED (bit k: a cube stands on place
// k + 1), BLOCK and BLOCK_PLACES, GROUPS (products of five factors), PRODUCT_WORDS of 64 bits; THREADS, MIN_BLOCKS.

#include "integers.cuh"

constexpr int WARPS = THREADS / 32, QUEUE = 64;
constexpr u32 BIASES = 0x40404040u;
constexpr u64 filled = FILLED;

__device__ constexpr int difference[SUMS] = {DIFFERENCES};
__device__ constexpr int link[SUMS] = {LINKS};
__device__ constexpr int block_place[BLOCK + 1] = {BLOCK_PLACES};

// Packed change of the sums by block places alone at each step of the Gray sequence.
__constant__ u32 deltas[WORDS << BLOCK];

// Rows of the last block places; those of the first two are in registers.
struct Shared {
    u32 rows[BLOCK ? BLOCK : 1][WORDS][THREADS];
    u32 queue[WARPS][WORDS][QUEUE];
};

SHARED_MEMORY(Shared);

// Sums of products in limbs whose carries wait (limbs.py), and the same modulo 2^64 − 1 by additions of
// their own: low + high · 2^32.
struct Total {
    i64 limbs[2 * PRODUCT_WORDS], low, high;
};

struct Packed {
    u32 word[WORDS];
};

// The sums of a point; bit k of x is set where place k + 1 has −1.
__device__ inline Packed sums_at(u64 x) {
    Packed sums;
    for (int w = 0; w < WORDS; w++) sums.word[w] = BIASES + 0x01010101;   // unused bytes: the sum 1
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        const u64 both = filled & filled >> difference[i];
        const int sum = __popcll(both) - 2 * __popcll((x ^ x >> difference[i]) & both);
        sums.word[link[i] / 4] += u32(sum - 1) << 8 * (link[i] % 4);
    }
    return sums;
}

// What a flip of the place from +1 changes by its neighbours outside the block.
__device__ inline Packed outside_change(u64 x, int place, u64 block) {
    Packed change = {};
    const u64 there = filled & ~block;
#pragma unroll
    for (int i = 0; i < SUMS; i++) {
        int neighbours = 0;
        const int before = place - difference[i], after = place + difference[i];
        if (before >= 0 && there >> before & 1) neighbours += x >> before & 1 ? -1 : 1;
        if (after < 64 && there >> after & 1) neighbours += x >> after & 1 ? -1 : 1;
        change.word[link[i] / 4] += u32(-2 * neighbours) << 8 * (link[i] % 4);
    }
    return change;
}

// Whether no sum that can vanish does: no byte equals the bias (bytes are below 128).
__device__ inline bool survives(const Packed &sums) {
    u32 all_set = 0x80808080u;
#pragma unroll
    for (int w = 0; w < VANISHING; w++) all_set &= (sums.word[w] ^ BIASES) + 0x7F7F7F7Fu;
    return all_set == 0x80808080u;
}

// Adds the product of all factors of a queued point, whose sign is the top bit of word 0, to the limbs.
__device__ inline void add_product_of(const u32 (&queue)[WORDS][QUEUE], int at, Total &total) {
    u32 group[2 * ((GROUPS + 1) / 2)];
    bool minus = queue[0][at] >> 31;
#pragma unroll
    for (int g = 0; g < 2 * ((GROUPS + 1) / 2); g++) {
        int product = 1;
#pragma unroll
        for (int i = 5 * g; i < 5 * g + 5 && i < FOLD * SUMS; i++) {
            const int byte = link[i / FOLD];
            product *= int(queue[byte / 4][at] >> 8 * (byte % 4) & 0x7F) - 64;
        }
        minus ^= product < 0;
        group[g] = product < 0 ? -product : product;
    }
    u64 words[PRODUCT_WORDS + 1] = {u64(group[0]) * group[1]};
#pragma unroll
    for (int g = 2; g < GROUPS; g += 2) {
        const u64 factor = u64(group[g]) * group[g + 1];
        u64 carry = 0;
#pragma unroll
        for (int k = 0; k < PRODUCT_WORDS; k++) {
            const unsigned __int128 product = (unsigned __int128)words[k] * factor + carry;
            words[k] = product;
            carry = product >> 64;
        }
    }
    // No carry is spread: a limb takes 2^31 digits.
    i64 low = 0, high = 0;
#pragma unroll
    for (int k = 0; k < PRODUCT_WORDS; k++) {
        const i64 digits[2] = {i64(words[k] & 0xFFFFFFFF), i64(words[k] >> 32)};
        total.limbs[2 * k] += minus ? -digits[0] : digits[0];
        total.limbs[2 * k + 1] += minus ? -digits[1] : digits[1];
        low += digits[0];
        high += digits[1];
    }
    total.low += minus ? -low : low;
    total.high += minus ? -high : high;
}

// Adds a number of limbs, its carries spread, to one in global memory.
template <int count> __device__ inline void deliver(const i64 (&limbs)[count], i64 *to) {
    i64 carry = 0;
#pragma unroll
    for (int k = 0; k < count; k++) {
        carry += limbs[k];
        atomicAdd((u64 *)to + k, (u64)(k < count - 1 ? carry & 0xFFFFFFFF : carry));
        carry >>= 32;
    }
}

// Queues the lanes' points that are real and survive, and multiplies 32 when there are as many.
__device__ inline void visit(bool real, const Packed &sums, u32 sign, u32 (&queue)[WORDS][QUEUE], int &waiting,
                             u64 &found, Total &total) {
    const bool alive = real && survives(sums);
    const u32 alive_lanes = __ballot_sync(~0u, alive), lane = threadIdx.x % 32;
    if (alive) {
        const int slot = waiting + __popc(alive_lanes & ((1u << lane) - 1));
#pragma unroll
        for (int w = 0; w < WORDS; w++) queue[w][slot] = sums.word[w] | (w ? 0 : sign);
        found++;
    }
    waiting += __popc(alive_lanes);
    __syncwarp();
    if (waiting >= 32) {
        waiting -= 32;
        add_product_of(queue, waiting + lane, total);
        __syncwarp();
    }
}

__device__ inline void step(Packed &sums, int at, const Packed &row, bool from_minus) {
#pragma unroll
    for (int w = 0; w < WORDS; w++)
        sums.word[w] += deltas[at * WORDS + w] + (from_minus ? -row.word[w] : row.word[w]);
}

// Adds Σ Π x Π S_d over all signs of the block places and of the places `free`, the others as in
// `start`, to limbs and residues.
//   start: bit k set where place k + 1 has −1; free [free_count]: places − 1.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
godfrey(i64 start, const int *free, int free_count, i64 *limbs, i64 *residues, u64 *survivors) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u32 (&queue)[WORDS][QUEUE] = shared.queue[warp];
    u64 block = 0;
#pragma unroll
    for (int k = 0; k < BLOCK; k++) block |= 1ull << block_place[k];
    u64 found = 0;
    // Whole warps: the lanes beyond the last assignment walk along and count nothing.
    for (i64 first = blockIdx.x * i64(THREADS) + 32 * warp; first < 1ll << free_count;
         first += gridDim.x * i64(THREADS)) {
        const i64 assignment = first + lane;
        const bool real = assignment < 1ll << free_count;
        u64 x = start;
        for (int k = 0; k < free_count; k++)
            if (assignment >> k & 1) x ^= 1ull << free[k];
        Packed sums = sums_at(x);
        u32 sign = u32(__popcll(x & filled) & 1) << 31;
        Packed row[2] = {};
        for (int k = 0; k < BLOCK; k++) {
            const Packed change = outside_change(x, block_place[k], block);
            if (k < 2) row[k] = change;
            for (int w = 0; w < WORDS; w++) shared.rows[k][w][threadIdx.x] = change.word[w];
        }
        Total total = {};
        int waiting = 0;
        for (int at = 0; at < 1 << BLOCK; at += 4) {
            if (at) {
                const int variable = 31 - __clz(at & -at);
                Packed change;
#pragma unroll
                for (int w = 0; w < WORDS; w++) change.word[w] = shared.rows[variable][w][threadIdx.x];
                step(sums, at, change, at >> (variable + 1) & 1);
            }
            visit(real, sums, sign, queue, waiting, found, total);
            if (BLOCK > 0) {
                step(sums, at + 1, row[0], false);
                visit(real, sums, sign ^ 1u << 31, queue, waiting, found, total);
            }
            if (BLOCK > 1) {
                step(sums, at + 2, row[1], at >> 2 & 1);
                visit(real, sums, sign, queue, waiting, found, total);
                step(sums, at + 3, row[0], true);
                visit(real, sums, sign ^ 1u << 31, queue, waiting, found, total);
            }
        }
        if (lane < waiting) add_product_of(queue, lane, total);
        __syncwarp();
        const i64 rest[3] = {total.low, total.high, 0};
        deliver(total.limbs, limbs);
        deliver(rest, residues);
    }
    atomicAdd(survivors, found);
}
