// The shifted sum on the GPU: a tile of v's against many u's (docs/shifted.md).
//
// A block takes one u at a time, with its images, and makes the tables of its odd forms in shared memory
// (shifted_rows.cuh).  The v's with a vanishing even form are a bitmap: that of the first forms is the same for many
// u's that follow each other and is kept, a few joint rows add the others.  Then each lane of a warp finds the
// living points of one row of 256: one (high, low) of v, one image.  What lives waits in a queue of the warp;
// 32 at a time are multiplied (shifted_terms.cuh).
//
// Defined by the loader: FORMS and EVENS (odd and even forms), ODD_WORDS and EVEN_WORDS (words that hold a byte for
// each), REACH (no half of an even form exceeds it), IMAGES (4, or 1), TILE_BITS, JOINTS (pairs of even forms that are
// not kept), EVEN_WINDOW (values of an even form that have a row), RUN (u's that a block takes at once), THREADS,
// MIN_BLOCKS; GROUP_SIZES, WINDOWS, BY_LENGTH (places by group, the lengths of their windows, and the places from the
// shortest window to the longest).

#include "shifted_choice.cuh"
#include "shifted_points.cuh"
#include "shifted_terms.cuh"

constexpr int WARPS = THREADS / 32, BATCH = 1 << LOW_BITS;
constexpr int STEP = IMAGES > 1 ? 8 : 32, CHUNK = IMAGES > 1 ? 16 : 32;   // rows of a warp in one step, between reads
constexpr int STEPS = CHUNK / STEP, BLOCKS = 2 * CHUNK / 32;              // blocks of 128 bits that a lane reads
constexpr int QUEUE = 31 + STEPS * 2 * 32;
constexpr int MOST_ROUNDS = MOST_TERMS / 2;   // before a sum is settled; those of a batch are fewer than the other half

struct Queue {
    Bits dead[QUEUE];
    u32 tag[QUEUE];
};
constexpr int TAGS = sizeof(Bits) * QUEUE;   // where they are in a queue, in bytes
struct alignas(32) Shared {
    Tables tables;
    union {
        struct {
            Bits single[SINGLE_ROWS * LINE];
            Term terms[FORMS][SLOTS];
        } own;
        struct {
            alignas(32) Bits dead[WARPS][2 * CHUNK];
            Queue queue[WARPS];
        } scan;
    };
    Total totals[WARPS];
    int base, next, left[WARPS];
    int joint_row[EVEN_PAIRS], last_row[EVEN_PAIRS];
    u32 even_word[EVEN_WORDS];
};

SHARED_MEMORY(Shared);

constexpr int KEPT = EVEN_PAIRS - JOINTS;   // pairs of even forms whose union is kept
static_assert(KEPT > 0, "the first pair is kept");

// The even values of u, and the joint rows that are dead with it.
__device__ inline void find_even_rows(Shared &shared, i64 u, const int *windows) {
    if (threadIdx.x < 4 * EVEN_WORDS) {
        const int i = threadIdx.x, value = i < EVENS ? half_even(u, i, U) : 0;
        reinterpret_cast<unsigned char *>(shared.even_word)[i] = 64 + value;
    }
    const int pair = THREADS - 1 - threadIdx.x;
    if (pair < EVEN_PAIRS) shared.joint_row[pair] = joint_row(u, pair, windows);
}

// The union of the rows of the first pairs, if not that of the u before; all threads of the block.
__device__ inline void fill_cell(Shared &shared, Bits *cell, const Bits *joint) {
    bool other = false;
    for (int k = 0; k < KEPT; k++) other |= shared.last_row[k] != shared.joint_row[k];
    if (!other) return;
    const Bits *rows[KEPT];
    for (int i = 0; i < KEPT; i++) rows[i] = joint + i64(shared.joint_row[i]) * (2 * ROWS);
#pragma unroll 4
    for (int k = threadIdx.x; k < 2 * ROWS; k += THREADS) {
        Bits dead = rows[0][k];
#pragma unroll
        for (int i = 1; i < KEPT; i++) unite(dead, rows[i][k]);
        cell[k] = dead;
    }
    __syncthreads();   // last_row is no longer read
    if (threadIdx.x < KEPT) shared.last_row[threadIdx.x] = shared.joint_row[threadIdx.x];
}

// The dead points of a step's rows and of those behind it, two halves each.
template <int STEP_NUMBER, int COUNT>
__device__ inline void scan_step(Bits (*gone)[2], const Bytes &high, u32 low, u32 dead, u32 minus_bias, u32 column) {
    if constexpr (STEP_NUMBER < COUNT) {
        constexpr int ROW = STEP_NUMBER * STEP;
        const Chosen chosen = choose_rows<ROW * SLOTS * int(sizeof(Bytes))>(high, low, minus_bias, column);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            Bits &here = gone[STEP_NUMBER][half];
            here = load_bits<ROW * 32>(dead ^ 16 * half);
            unite_rows<0>(here, chosen, 16 * half);
        }
        scan_step<STEP_NUMBER + 1, COUNT>(gone, high, low, dead, minus_bias, column);
    }
}


// Adds Σ (Π x_k) Π f_d / 4 over `count` u's, their images and the v's of the tile to the carry-save numbers limbs
// and residues, each pair with its images 4 / (their number) times, v_weight / 2 of that (IMAGES > 1).
//   us [count]; fixed: elements that are −1 in all v's of the tile; bits: 2^bits v's; keys: tile_tables;
//   joint, windows: join_even_rows; cells [blocks][TILE / 128]; evaluated [1]: products that are not 0, weighted
//   likewise; taken [1]: how many of the u's are taken, 0 before; minus_bias: −BIAS in both halves.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
shifted(const i64 *us, int count, i64 fixed, int bits, const Bits *joint, const int *windows,
        const Evens *keys, Bits *cells, int v_weight, i64 *limbs, i64 *residues, u64 *evaluated, u32 *taken, u32 minus_bias) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    Tables &tables = shared.tables;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slot = lane % SLOTS;
    Total &total = shared.totals[warp];
    Bits *cell = cells + i64(blockIdx.x) * (2 * ROWS);
    const u32 cell_at = kept(blockIdx.x * (2 * ROWS) + lane);
    if (lane < LIMBS) total.limbs[lane] = total.residues[lane] = 0;
    if (lane == 0) total.evaluated = 0;
    if (threadIdx.x < EVEN_PAIRS) shared.last_row[threadIdx.x] = -1;
    Sum sum = {};
    int weight = 0, rounds = 0;   // since the sum was settled
#ifdef LANGFORD_HOST
    shared_base = reinterpret_cast<char *>(shared_memory);
#endif
    // A quarter of a warp reads one block of 16 bytes in each bank: two rows, all images, one half each.
    const int other = lane / SLOTS % 2, own_row = IMAGES > 1 ? lane / SLOTS : lane;
    const u32 column = shared_address(reinterpret_cast<const char *>(tables.joint) + 32 * slot + 16 * other);
    const u32 tables_at = shared_address(&tables), next_at = shared_address(&shared.next);
    const u32 dead_to = shared_address(&shared.scan.dead[warp][lane]);
    const u32 dead_from = shared_address(&shared.scan.dead[warp][2 * own_row + other]);
    const u32 low_from = shared_address(&tables.low[own_row * SLOTS + slot]), queue_at = shared_address(&shared.scan.queue[warp]);
    const u32 below = (1u << lane) - 1, own_tag = u32(slot) << SLOT_SHIFT | own_row << ROW_SHIFT | other << 7;
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
            if (u_weight != weight || rounds >= MOST_ROUNDS) settle_sum();
            weight = u_weight;
            if (threadIdx.x == 0) shared.next = 0;
            find_even_rows(shared, u, windows);
            find_terms(shared.own.terms, u, fixed, bits, __popcll(u ^ fixed) + FORMS & 1);
            __syncthreads();
            deal(tables, shared.own.terms);
            fill_cell(shared, cell, joint);
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
                u32 point = take_point(points, tag);
                if (!valid) {
                    point = 0;
                    points = ALL_DEAD;
                }
                even = keys[point & (1u << SLOT_SHIFT) - 1];
                odd = odd_at(tables_at, point);
                if (!valid)
                    for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = NO_FACTOR;
                if (!COUNTS_BITS) turned = u32(__popc(point & (1u << SLOT_SHIFT) - 1)) << 31;
                rounds++;
            };
            // Each lane has some points in hand; one that has none takes an entry of the queue.
            Bits points = ALL_DEAD;
            u32 of_points = 0;
            bool lacks = true;
            int lacking = 32, rank = lane;   // lanes that do, and those of them below this one
            auto round = [&] {
                waiting -= lacking;
                if (lacks) {
                    const int from = waiting + rank;
                    points = load_bits<0>(queue_at + 16 * from);
                    of_points = load_word<TAGS>(queue_at + 4 * from);
                }
                finish();
                next_points(points, of_points, true);
                lacks = !any_living(points);
                const u32 votes = __ballot_sync(~0u, lacks);
                lacking = __popc(votes);
                rank = __popc(votes & below);
            };
            auto push = [&](const Bits &gone, u32 tag) {
                const bool some = any_living(gone);
                const u32 votes = __ballot_sync(~0u, some);
                const int to = waiting + __popc(votes & below);
                if (some) {
                    store_bits<0>(queue_at + 16 * to, gone);
                    store_word<TAGS>(queue_at + 4 * to, tag);
                }
                waiting += __popc(votes);
            };
            u32 joint_at[JOINTS + 1];
            for (int g = 0; g < JOINTS; g++) joint_at[g] = kept(shared.joint_row[KEPT + g] * (2 * ROWS) + lane);
            Bits ahead[BLOCKS][JOINTS + 1];
            constexpr u32 CHUNKS = ROWS / CHUNK;
            u32 chunk;
            auto read_ahead = [&] {
                chunk = 0;
                if (lane == 0) chunk = count_up(next_at);
                chunk = __shfl_sync(~0u, chunk, 0);
                if (chunk >= CHUNKS) return;
#pragma unroll
                for (int k = 0; k < BLOCKS; k++) {
                    ahead[k][JOINTS] = cells[cell_at + (chunk * (2 * CHUNK) + 32 * k)];
#pragma unroll
                    for (int g = 0; g < JOINTS; g++) ahead[k][g] = joint[joint_at[g] + (chunk * (2 * CHUNK) + 32 * k)];
                }
            };
            read_ahead();
            while (chunk < CHUNKS) {
                if (rounds >= MOST_ROUNDS) settle_sum();
#pragma unroll
                for (int k = 0; k < BLOCKS; k++) {
                    Bits gone = ahead[k][JOINTS];
#pragma unroll
                    for (int g = 0; g < JOINTS; g++) unite(gone, ahead[k][g]);
                    if (k) store_bits<32 * 16>(dead_to, gone);
                    else store_bits<0>(dead_to, gone);
                }
                const Bytes high = tables.high[slot][chunk / (BATCH / CHUNK)];
                const u32 low = low_from + chunk % (BATCH / CHUNK) * (CHUNK * SLOTS * sizeof(Bytes));
                const u32 tag = own_tag + (chunk * CHUNK << ROW_SHIFT);
                read_ahead();
                __syncwarp();
                Bits gone[STEPS][2];
                scan_step<0, STEPS>(gone, high, low, dead_from, minus_bias, column);
#pragma unroll
                for (int step = 0; step < STEPS; step++) {
                    push(gone[step][0], tag + (step * STEP << ROW_SHIFT));
                    push(gone[step][1], (tag ^ 128) + (step * STEP << ROW_SHIFT));
                }
                __syncwarp();
                while (waiting >= lacking) round();
            }
            push(points, of_points);
            // What is left in all queues, dealt out to all warps.
            if (lane == 0) shared.left[warp] = waiting;
            __syncthreads();
            int left = 0;
            for (int k = 0; k < WARPS; k++) left += shared.left[k];
            for (int first = 32 * warp; first < left; first += THREADS) {
                int from = 0, place = first + lane;
                while (from < WARPS && place >= shared.left[from]) place -= shared.left[from++];
                points = ALL_DEAD;
                if (from < WARPS) {
                    points = shared.scan.queue[from].dead[place];
                    of_points = shared.scan.queue[from].tag[place];
                }
                while (__any_sync(~0u, any_living(points))) {
                    finish();
                    next_points(points, of_points, any_living(points));
                }
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
