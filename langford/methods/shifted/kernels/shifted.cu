// The shifted sum on the GPU: a tile of v's against many u's (docs/shifted.md).
//
// A block takes one u at a time, with its images, and makes the tables of its odd forms in shared memory
// (rows.cuh).  The v's where an even form vanishes are the union of a few bitmaps, each of up to JOINED forms.
// A lane of a warp finds the living points of four rows of 256 and one image; the rows are (high, low)'s of v that
// differ in two bits (places.cuh).  It takes one half of each row, then the other.  What lives waits in a queue
// of the warp; 32 at a time are multiplied (terms.cuh).
//
// Defined by the loader: FORMS and EVENS (odd and even forms), ODD_WORDS and EVEN_WORDS (words that hold a byte for
// each), REACH (no half of an even form exceeds it), IMAGES (4, or 1), TILE_BITS, JOINED (even forms that share a
// joint row, at most), EVEN_WINDOW (values of an even form that have a row), THREADS, MIN_BLOCKS; GROUP_SIZES, WINDOWS
// (places by group, and the lengths of their windows).

#include "choice.cuh"
#include "points.cuh"
#include "terms.cuh"

constexpr int WARPS = THREADS / 32;
constexpr int OWN_ROWS = 1 << OWN_BITS, CHUNKS = ROWS / MEMBERS / OWN_ROWS;   // a chunk: four rows for each lane
constexpr int QUEUE = 31 + (TILE_BITS > 20 ? 2 : 3) * 32;   // rounds make room when they must
static_assert(MEMBERS * OWN_ROWS * 8 / SLOTS * (IMAGES > 1 ? SLOTS : 1) >= 32 && ROWS >= MEMBERS * OWN_ROWS, "chunks");
constexpr int MOST_ROUNDS = MOST_TERMS / 2;   // before a sum is settled; those of a batch are fewer than the other half

struct Queue {
    Bits dead[QUEUE];
    u32 tag[QUEUE];
};
constexpr int TAGS = sizeof(Bits) * QUEUE;   // where they are in a queue, in bytes
struct alignas(32) Shared {
    Tables tables;
    union {
        Bits single[SINGLE_ROWS * LINE];
        Queue queue[WARPS];   // the last entries: even dead points on their way from the lanes that read them
    };
    Total totals[WARPS];
    int at, next, left[WARPS];   // numbers of the u and of the next chunk
    int joint_row[EVEN_GROUPS];
    u32 even_word[EVEN_WORDS];
};

SHARED_MEMORY(Shared);

// Adds to the dead points of four rows, a half of each, those of the odd forms.
__device__ inline void unite_all(Bits (&dead)[MEMBERS], const Chosen &chosen) {
    Bits same[1] = {}, of_second[2];
    unite_rows<0>(same, chosen);
    of_second[0] = of_second[1] = same[0];
    unite_rows<2>(of_second, chosen);
#pragma unroll
    for (int k = 0; k < MEMBERS; k++) unite(dead[k], of_second[k / 2]);
    unite_rows<1>(dead, chosen);
    unite_rows<3>(dead, chosen);
}

// A number with a bit of 0 put in at place `bit`.
__device__ inline u32 spread(u32 number, int bit) { return number + (number >> bit << bit); }

// Adds Σ (Π x_k) Π f_d / 4 over `count` u's, their images and the v's of the tile to the carry-save numbers limbs
// and residues, each pair with its images 4 / (their number) times, v_weight / 2 of that (IMAGES > 1).
//   us, choices [count]: choose_row_bits; fixed: elements that are −1 in all v's of the tile; bits: 2^bits v's;
//   keys, half_keys: tile_tables; joint, windows: join_even_rows; evaluated [1]: products that are not 0, weighted
//   likewise; taken [1]: how many of the u's are taken, 0 before; minus_bias: −BIAS in both halves.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, MIN_BLOCKS)
shifted(const i64 *us, const u32 *choices, int count, i64 fixed, int bits, const Bits *joint, const int *windows,
        const Evens *keys, const HalfEvens *half_keys, int v_weight, i64 *limbs, i64 *residues, u64 *evaluated,
        u32 *taken, u32 minus_bias) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    Tables &tables = shared.tables;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slot = lane % SLOTS;
    Total &total = shared.totals[warp];
    if (lane < LIMBS) total.limbs[lane] = total.residues[lane] = 0;
    if (lane == 0) total.evaluated = 0;
    Sum sum = {};
    int weight = 0, rounds = 0;   // since the sum was settled
#ifdef LANGFORD_HOST
    shared_base = reinterpret_cast<char *>(shared_memory);
#endif
    // A quarter of a warp reads one block of 16 bytes in each bank: two rows, all images, one half each.
    const int own_row = IMAGES > 1 ? lane / SLOTS : lane, half = first_half(own_row);
    const u32 column = shared_address(reinterpret_cast<const char *>(tables.joint) + 32 * slot + 16 * half);
    const u32 tables_at = shared_address(&tables), next_at = shared_address(&shared.next);
    const u32 dead_to = shared_address(&shared.queue[warp].dead[QUEUE - 32 + lane]);
    const u32 dead_from = shared_address(&shared.queue[warp].dead[QUEUE - 32 + own_row]);
    const u32 high_from = shared_address(tables.high[slot]), turns_from = shared_address(&tables.turn[0][slot]);
    const u32 low_from = shared_address(&tables.low[own_row * SLOTS + slot]);
    const u32 queue_at = shared_address(&shared.queue[warp]);
    const u32 own_tag = u32(slot) << SLOT_SHIFT | own_row << ROW_SHIFT | half << 7;
    const u32 top_bits = kept(0x80808080), below = (1u << lane) - 1;
    if (threadIdx.x == 0) shared.at = atomicAdd(taken, u32(1));
    __syncthreads();
    for (;;) {
        const int at = shared.at;
        if (at >= count) break;
        const i64 u = us[at];
        const RowBits bit = row_bits(choices[at]);
        const int u_weight = IMAGES > 1 ? v_weight * (u == backwards(u, U) ? 1 : 2) : 1;
        auto settle_sum = [&] {
            settle(total, sum, weight);
            sum = {};
            rounds = 0;
        };
        if (u_weight != weight || rounds >= MOST_ROUNDS) settle_sum();
        weight = u_weight;
        for (int job = warp; job <= SLOTS; job += WARPS) {
            if (job < SLOTS) deal_forms(tables.term, job, u, fixed, bits, __popcll(u ^ fixed) + FORMS & 1, bit);
            else find_even_rows(shared.even_word, shared.joint_row, u, windows);
        }
        __syncthreads();
        u32 coming;   // asked for before it is needed
        if (threadIdx.x == 0) coming = atomicAdd(taken, u32(1));
        fill_single_rows(tables, shared.single);
        fill_byte_tables(tables);
        fill_turns(tables, bit);
        if (threadIdx.x == 0) shared.at = coming, shared.next = 0;
        __syncthreads();
        join_rows<0>(tables, shared.single);
        __syncthreads();
        Evens of_u;
        for (int k = 0; k < EVEN_WORDS; k++) of_u.word[k] = shared.even_word[k];
        int waiting = 0;
        // Of the points before, multiplied while the next ones are read.
        Bytes odd;
        HalfEvens half = {};
        u32 number = 0;   // of the v
        for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = NO_FACTOR;
        auto finish = [&] { add_term(total, sum, odd, half, keys, number, of_u, weight, top_bits); };
        auto next_points = [&](Bits &points, u32 &tag, bool valid) {
            u32 point = take_point(points, tag);
            if (!valid) {
                point = 0;
                points = ALL_DEAD;
            }
            number = point & (1u << SLOT_SHIFT) - 1;
            half = half_keys[number];
            odd = odd_at(tables_at, point);
            if (!valid)
                for (int k = 0; k < ODD_WORDS; k++) odd.word[k] = NO_FACTOR;
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
            const u32 none = all_dead(gone), votes = __ballot_sync(~0u, none != ~0u);
            const u32 to = waiting + __popc(votes & below);
            store_unless<TAGS>(none, queue_at + 16 * to, gone, queue_at + 4 * to, tag);
            waiting += __popc(votes);
        };
        // From the first row of four to each.
        const u32 first_bit = 1u << bit.first, second_bit = 1u << bit.second;
        auto apart = [&](int member) { return (member & 1) * first_bit + (member >> 1) * second_bit; };
        // What this lane reads of chunk 0: with images half of one of the warp's 4 · OWN_ROWS rows, or its own rows.
        const u32 lane_at = half_at(lane % OWN_ROWS, first_half(lane)) + 2 * apart(IMAGES > 1 ? lane / OWN_ROWS : 0);
        u32 joint_at[EVEN_GROUPS];
        for (int g = 0; g < EVEN_GROUPS; g++) joint_at[g] = kept(shared.joint_row[g] * (2 * ROWS) + lane_at);
        auto next_chunk = [&] {
            u32 chunk = 0;
            if (lane == 0) chunk = count_up(next_at);
            return __reduce_add_sync(~0u, chunk);   // the compiler knows that it is the same in all lanes
        };
        auto first_row = [&](u32 chunk) { return spread(spread(chunk << OWN_BITS, bit.first), bit.second); };
        Bits ahead[EVEN_GROUPS];
        auto read = [&](u32 at) {
#pragma unroll
            for (int g = 0; g < EVEN_GROUPS; g++) ahead[g] = read_once(&joint[joint_at[g] + at]);
        };
        auto united = [&] {
            Bits gone = ahead[0];
#pragma unroll
            for (int g = 1; g < EVEN_GROUPS; g++) unite(gone, ahead[g]);
            return gone;
        };
        const Turns turns = load_turns(turns_from);
        u32 chunk = next_chunk(), row = first_row(chunk);
        if (IMAGES > 1 && chunk < CHUNKS) read(2 * row);
        while (chunk < CHUNKS) {
            if (rounds >= MOST_ROUNDS) settle_sum();
            const u32 own = row;
            u32 tag = own_tag + (row << ROW_SHIFT);
            const u32 high_at = high_from + (row >> LOW_BITS) * sizeof(Bytes);
            const u32 low_at = low_from + row % (1 << LOW_BITS) * (SLOTS * sizeof(Bytes));
            Chosen chosen = choose_rows(high_at, low_at, turns, minus_bias, column);
            chunk = next_chunk();
            row = first_row(chunk);
#pragma unroll 1
            for (u32 phase = 0; phase < 2; phase++) {
                Bits gone[MEMBERS];
                if constexpr (IMAGES > 1) {
                    store_bits<0>(dead_to, united());
                    if (!phase) read(2 * own + 8);
                    else if (chunk < CHUNKS) read(2 * row);
                    __syncwarp();
                    gone[0] = load_bits<0>(dead_from);
                    gone[1] = load_bits<OWN_ROWS * 16>(dead_from);
                    gone[2] = load_bits<OWN_ROWS * 32>(dead_from);
                    gone[3] = load_bits<OWN_ROWS * 48>(dead_from);
                } else {
#pragma unroll
                    for (int k = 0; k < MEMBERS; k++) {
                        read(2 * (own + apart(k)) + 8 * phase);
                        gone[k] = united();
                    }
                }
                unite_all(gone, chosen);
#pragma unroll
                for (int k = 0; k < MEMBERS; k++) {
                    push(gone[k], tag + (apart(k) << ROW_SHIFT));
                    if (k != 1) continue;
                    __syncwarp();
                    while (waiting > QUEUE - 64) round();   // rarely
                }
                __syncwarp();
                while (waiting >= lacking) round();
                for (int k = 0; k < CHOSEN; k++) chosen.pair[k] ^= 0x100010;   // the other half
                tag ^= 128;
            }
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
                points = shared.queue[from].dead[place];
                of_points = shared.queue[from].tag[place];
            }
            while (__any_sync(~0u, any_living(points))) {
                finish();
                next_points(points, of_points, any_living(points));
            }
        }
        finish();
        __syncthreads();
    }
    settle(total, sum, weight);
    __syncwarp();
    if (lane < LIMBS) {
        atomicAdd((u64 *)limbs + lane, (u64)total.limbs[lane]);
        atomicAdd((u64 *)residues + lane, (u64)total.residues[lane]);
    }
    if (lane == 0) atomicAdd(evaluated, total.evaluated);
}
