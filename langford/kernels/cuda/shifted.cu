// The shifted sum on the GPU: a tile of v's against many u's (docs/shifted.md).
//
// A block takes one u at a time, with its images, and makes the tables of its odd forms in shared memory
// (shifted_rows.cuh).  The v's with a vanishing even form are a bitmap: that of the first forms is the same for many
// u's that follow each other and is kept, a few joint rows add the others.  Then each lane of a warp finds the
// living points of one row of 256: one (high, low) of v, one image.  What lives waits in a queue of the warp;
// 32 at a time are multiplied (shifted_terms.cuh).
//
// Defined by the loader: FORMS and EVENS (odd and even forms), ODD_WORDS and EVEN_WORDS (words that hold a byte for
// each), REACH (no half of an even form exceeds it), IMAGES (4, or 1), TILE_BITS, JOINTS (joint groups of three even forms), RUN (u's that a block takes at once), THREADS,
// MIN_BLOCKS; GROUP_SIZES, WINDOWS, BY_LENGTH (places by group, the lengths of their windows, and the places from the
// shortest window to the longest).

#include "shifted_choice.cuh"
#include "shifted_terms.cuh"

constexpr int WARPS = THREADS / 32, BATCH = 1 << LOW_BITS, BATCHES = ROWS / BATCH;
constexpr int STEP = IMAGES > 1 ? 8 : 32, CHUNK = IMAGES > 1 ? 16 : 32;   // rows of a warp in one step, between reads
constexpr int STEPS = CHUNK / STEP, BLOCKS = 2 * CHUNK / 32;              // blocks of 128 bits that a lane reads
constexpr int QUEUE = 31 + STEPS * 2 * 32;
constexpr int MOST_ROUNDS = MOST_TERMS / 2;   // before a sum is settled; those of a batch are fewer than the other half
constexpr u32 NO_FACTOR = 0x80808080;       // bytes that all stand for 0

// A v of the tile and an image as one number: row, image, place in the row; a tag has no place but a multiple of 128.
constexpr int SLOT_SHIFT = INNER_BITS, ROW_SHIFT = INNER_BITS + 2;

struct Queue {
    Bits dead[QUEUE];
    u32 tag[QUEUE];
};
struct Shared {
    Tables tables;
    union {
        struct {
            Bits single[SINGLE_ROWS * LINE];
            Term terms[FORMS][SLOTS];
        } own;
        struct {
            Bits dead[WARPS][2 * CHUNK];
            Queue queue[WARPS];
        } scan;
    };
    Total totals[WARPS];
    int base, next, left[WARPS];
    int cell_row[EVENS + 1], last_row[EVENS + 1], joint_row[JOINTS + 1];
    u32 even_word[EVEN_WORDS];
};

SHARED_MEMORY(Shared);

// The even values of u, and the rows of the v's where an even form vanishes.
__device__ inline void find_even_rows(Shared &shared, i64 u, const int *windows) {
    if (threadIdx.x < 4 * EVEN_WORDS) {
        const int i = threadIdx.x, value = i < EVENS ? half_even(u, i, U) : 0;
        reinterpret_cast<unsigned char *>(shared.even_word)[i] = 64 + value;
        if (i < CELL_FORMS) shared.cell_row[i] = 1 + i * VALUES + REACH - value;
    }
    if (threadIdx.x >= THREADS - JOINTS) {
        const int group = THREADS - 1 - threadIdx.x;
        int row = 0, step = 1;
        for (int k = 0; k < 3; k++, step *= CHOICES) {
            const int i = CELL_FORMS + 3 * group + k;
            row += step * choice(half_even(u, i, U), windows[i]);
        }
        shared.joint_row[group] = group * JOINT_ROWS + row;
    }
}

// The union of the rows of the first even forms, if not that of the u before; all threads of the block.
__device__ inline void fill_cell(Shared &shared, Bits *cell, const Bits *rows) {
    bool other = false;
    for (int i = 0; i < CELL_FORMS; i++) other |= shared.last_row[i] != shared.cell_row[i];
    if (!other) return;
    for (int k = threadIdx.x; k < 2 * ROWS; k += THREADS) {
        Bits dead = rows[k];
#pragma unroll
        for (int i = 0; i < CELL_FORMS; i++) unite(dead, rows[i64(shared.cell_row[i]) * (2 * ROWS) + k]);
        cell[k] = dead;
    }
    __syncthreads();   // last_row is no longer read
    if (threadIdx.x < CELL_FORMS) shared.last_row[threadIdx.x] = shared.cell_row[threadIdx.x];
}

// One point that is not dead, of a mask that has any: its number, and the mask with it dead.
__device__ inline u32 take_point(Bits &dead, u32 tag) {
    const bool first = ~dead.word[0], second = !first && ~dead.word[1], third = !first && !second && ~dead.word[2];
    const bool fourth = !first && !second && !third;
    const u32 word = first ? dead.word[0] : second ? dead.word[1] : third ? dead.word[2] : dead.word[3];
    const u32 bit = 31 - __clz(int(~word)), rest = word | 1u << bit;
    if (first) dead.word[0] = rest;
    if (second) dead.word[1] = rest;
    if (third) dead.word[2] = rest;
    if (fourth) dead.word[3] = rest;
    return tag + (first ? 0 : second ? 32 : third ? 64 : 96) + bit;
}
__device__ inline bool any_living(const Bits &dead) { return ~(dead.word[0] & dead.word[1] & dead.word[2] & dead.word[3]); }
constexpr Bits ALL_DEAD = {~0u, ~0u, ~0u, ~0u};

// The odd factors at a point.
__device__ inline Bytes odd_at(const Tables &tables, u32 point) {
    // Offsets in bytes are cut out of the point's number.
    const u32 image = point >> SLOT_SHIFT & SLOTS - 1, row = point >> ROW_SHIFT, place = point & 255;
    const Bytes high = tables.high[row / BATCH * SLOTS + image];
    const HalfBytes low = tables.low_count[(row % BATCH) * SLOTS + image];
    const HalfBytes first = tables.half_count[0][image * 16 + place % 16];
    const HalfBytes second = tables.half_count[1][image * 16 + place / 16];
    Bytes odd;
#pragma unroll
    for (int k = 0; k < ODD_WORDS / 2; k++) {
        const u32 counts = low.word[k] + first.word[k] + second.word[k];
        odd.word[2 * k] = high.word[2 * k] + (counts & 0x0F0F0F0F);
        odd.word[2 * k + 1] = high.word[2 * k + 1] + (counts >> 4 & 0x0F0F0F0F);
    }
    return odd;
}

// Adds Σ (Π x_k) Π f_d / 4 over `count` u's, their images and the v's of the tile to the carry-save numbers limbs
// and residues, each pair with its images 4 / (their number) times, v_weight / 2 of that (IMAGES > 1).
//   us [count]; fixed: elements that are −1 in all v's of the tile; bits: 2^bits v's; rows, keys: tile_tables;
//   joint, windows: join_even_rows; cells [blocks][TILE / 128]; evaluated [1]: products that are not 0, weighted
//   likewise; taken [1]: how many of the u's are taken, 0 before; minus_bias: −BIAS in both halves.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
shifted(const i64 *us, int count, i64 fixed, int bits, const Bits *rows, const Bits *joint, const int *windows,
        const Evens *keys, Bits *cells, int v_weight, i64 *limbs, i64 *residues, u64 *evaluated, u32 *taken, u32 minus_bias) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    Tables &tables = shared.tables;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slot = lane % SLOTS;
    Total &total = shared.totals[warp];
    Bits *cell = cells + i64(blockIdx.x) * (2 * ROWS);
    if (lane < LIMBS) total.limbs[lane] = total.residues[lane] = 0;
    if (lane == 0) total.evaluated = 0;
    if (threadIdx.x < EVENS) shared.last_row[threadIdx.x] = -1;
    Sum sum = {};
    int weight = 0, rounds = 0;   // since the sum was settled
    Bits *dead = shared.scan.dead[warp];
    Queue &queue = shared.scan.queue[warp];
    // A quarter of a warp reads one block of 16 bytes in each bank: two rows, all images, one half each.
    const int other = lane / SLOTS % 2, own_row = IMAGES > 1 ? lane / SLOTS : lane;
    const u32 column = shared_address(tables.joint) + 32 * slot + 16 * other, below = (1u << lane) - 1;
    const Bytes *own_low = tables.low + own_row * SLOTS + slot;
    const Bits *own_first = dead + 2 * own_row + other, *own_second = dead + 2 * own_row + (1 - other);
    for (;;) {
        if (threadIdx.x == 0) shared.base = atomicAdd(taken, u32(RUN));
        __syncthreads();
        const int base = shared.base, end = base + RUN < count ? base + RUN : count;
        __syncthreads();
        if (base >= count) break;
        for (int at = base; at < end; at++) {
            const i64 u = us[at];
            const int u_weight = IMAGES > 1 ? v_weight * (u == backwards(u, U) ? 1 : 2) : 1;
            auto settle_sum = [&] {
                settle(total, sum, weight);
                sum = {};
                rounds = 0;
            };
            if (u_weight != weight) settle_sum();
            weight = u_weight;
            if (threadIdx.x == 0) shared.next = 0;
            find_even_rows(shared, u, windows);
            find_terms(shared.own.terms, u, fixed, bits, __popcll(u ^ fixed) + FORMS & 1);
            __syncthreads();
            deal(tables, shared.own.terms);
            fill_cell(shared, cell, rows);
            __syncthreads();
            fill_single_rows(tables, shared.own.single);
            fill_byte_tables(tables);
            __syncthreads();
            join_rows<0>(tables, shared.own.single);
            __syncthreads();
            Evens of_u;
            for (int k = 0; k < EVEN_WORDS; k++) of_u.word[k] = shared.even_word[k];
            int waiting = 0;
            // Of the points before, multiplied while the next ones are read.
            Bytes odd;
            Evens even = {};
            u32 turned = 0;
            for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = NO_FACTOR;
            auto finish = [&] { add_term(total, sum, odd, even, of_u, turned, weight); };
            auto next_points = [&](Bits &points, u32 tag, bool valid) {
                finish();
                u32 point = take_point(points, tag);
                if (!valid) {
                    point = 0;
                    points = ALL_DEAD;
                }
                even = keys[point >> ROW_SHIFT << INNER_BITS | point & 255];
                odd = odd_at(tables, point);
                if (!valid)
                    for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = NO_FACTOR;
                if (!COUNTS_BITS) turned = u32(__popc(point & ~((SLOTS - 1) << SLOT_SHIFT))) << 31;
                rounds++;
            };
            const Bits *joint_rows[JOINTS + 1];
            for (int g = 0; g < JOINTS; g++) joint_rows[g] = joint + i64(shared.joint_row[g]) * (2 * ROWS);
            Bits ahead[BLOCKS][JOINTS + 1];
            constexpr int CHUNKS = BATCH / CHUNK;
            int chunk = -1;
            auto read_ahead = [&] {
                if (++chunk % CHUNKS == 0) {
                    int batch = 0;
                    if (lane == 0) batch = atomicAdd(&shared.next, 1);
                    chunk = __shfl_sync(~0u, batch, 0) * CHUNKS;
                }
                if (chunk >= BATCHES * CHUNKS) return;
#pragma unroll
                for (int k = 0; k < BLOCKS; k++) {
                    const int block = chunk * (2 * CHUNK) + 32 * k + lane;
                    ahead[k][JOINTS] = cell[block];
#pragma unroll
                    for (int g = 0; g < JOINTS; g++) ahead[k][g] = joint_rows[g][block];
                }
            };
            read_ahead();
            while (chunk < BATCHES * CHUNKS) {
                if (rounds >= MOST_ROUNDS) settle_sum();
#pragma unroll
                for (int k = 0; k < BLOCKS; k++) {
                    Bits gone = ahead[k][JOINTS];
#pragma unroll
                    for (int g = 0; g < JOINTS; g++) unite(gone, ahead[k][g]);
                    dead[32 * k + lane] = gone;
                }
                const Bytes high = tables.high[chunk / CHUNKS * SLOTS + slot];
                const Bytes *low = own_low + chunk % CHUNKS * (CHUNK * SLOTS);
                const u32 tag = u32(chunk * CHUNK + own_row) << ROW_SHIFT | slot << SLOT_SHIFT;
                read_ahead();
                __syncwarp();
                {
                    Bits gone[STEPS][2];
#pragma unroll
                    for (int step = 0; step < STEPS; step++) {
                        const Chosen chosen = choose_rows(high, low[step * STEP * SLOTS], minus_bias, column);
#pragma unroll
                        for (int half = 0; half < 2; half++) {
                            gone[step][half] = (half ? own_second : own_first)[step * STEP * 2];
                            unite_rows<0>(gone[step][half], tables.joint, chosen, 16 * half);
                        }
                    }
#pragma unroll
                    for (int step = 0; step < STEPS; step++)
#pragma unroll
                        for (int half = 0; half < 2; half++) {
                            const bool some = any_living(gone[step][half]);
                            const u32 votes = __ballot_sync(~0u, some);
                            if (some) {
                                const int to = waiting + __popc(votes & below);
                                queue.dead[to] = gone[step][half];
                                queue.tag[to] = tag + (step * STEP << ROW_SHIFT) + 128 * (half ^ other);
                            }
                            waiting += __popc(votes);
                        }
                    while (waiting >= 32) {
                        waiting -= 32;
                        __syncwarp();
                        Bits points = queue.dead[waiting + lane];
                        const u32 of_points = queue.tag[waiting + lane];
                        next_points(points, of_points, true);
                        const bool more = any_living(points);
                        const u32 votes = __ballot_sync(~0u, more);
                        if (more) {
                            const int to = waiting + __popc(votes & below);
                            queue.dead[to] = points;
                            queue.tag[to] = of_points;
                        }
                        waiting += __popc(votes);
                    }
                }
                __syncwarp();
            }
            // What is left in all queues, dealt out to all warps.
            if (lane == 0) shared.left[warp] = waiting;
            __syncthreads();
            int left = 0;
            for (int k = 0; k < WARPS; k++) left += shared.left[k];
            for (int chunk = 32 * warp; chunk < left; chunk += THREADS) {
                int from = 0, place = chunk + lane;
                while (from < WARPS && place >= shared.left[from]) place -= shared.left[from++];
                Bits points = ALL_DEAD;
                u32 of_points = 0;
                if (from < WARPS) {
                    points = shared.scan.queue[from].dead[place];
                    of_points = shared.scan.queue[from].tag[place];
                }
                while (__any_sync(~0u, any_living(points))) next_points(points, of_points, any_living(points));
            }
            finish();
            __syncthreads();
        }
    }
    settle(total, sum, weight);
    __syncwarp();
    if (lane < LIMBS) {
        atomicAdd((u64 *)limbs + lane, (u64)total.limbs[lane]);
        atomicAdd((u64 *)residues + lane, (u64)total.residues[lane]);
    }
    if (lane == 0) atomicAdd(evaluated, total.evaluated);
}
