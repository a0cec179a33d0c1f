// Scans in one pass: each tile of a row publishes its sum, and looks back for the sums before it (Merrill, Garland).
//
// Defined by the loader: VERTEX, VALUE.
#include "operators.cuh"
#include "packs.cuh"

// Values of a thread, and of a tile, which a block scans.
constexpr int ITEMS = 128 / sizeof(VALUE), TILE = THREADS * ITEMS, TILE_WARPS = THREADS / 32;
// Packs of a thread: those of a warp at a time stand together.
constexpr int PACKS = ITEMS / PACK;
// What a tile has published, unless it is 0: its own sum, or that of itself and all before it.
constexpr u32 OWN_SUM = 1, WHOLE_SUM = 2;
// Words in which a sum stands, 32 bits in each, beside its kind: who reads a word needs no fence.
constexpr int WORDS_OF_SUM = sizeof(VALUE) / 4;

// What tiles publish.
struct Tiles {
    u32 *taken;                  // how many tiles blocks have begun
    u64 *state;                  // WORDS_OF_SUM of each tile

    __device__ inline void publish(i64 tile, u32 kind, VALUE sum) const {
        volatile u64 *at = state + tile * WORDS_OF_SUM;
        Bits<VALUE> bits;
        bits.value = sum;
#pragma unroll
        for (int k = 0; k < WORDS_OF_SUM; k++) at[k] = u64(kind) << 32 | u32(u64(bits.word) >> 32 * k);
    }
    // Waits until the tile has published something, and tells its kind.
    __device__ inline u32 read(i64 tile, VALUE &sum) const {
        const volatile u64 *at = state + tile * WORDS_OF_SUM;
        u64 words[WORDS_OF_SUM];
        u32 kind;
        do {
#pragma unroll
            for (int k = 0; k < WORDS_OF_SUM; k++) words[k] = at[k];
            kind = words[0] >> 32;
        } while (!kind || kind != words[WORDS_OF_SUM - 1] >> 32);
        Bits<VALUE> bits;
        bits.word = u32(words[0]);
        if constexpr (WORDS_OF_SUM == 2) bits.word |= words[1] << 32;
        sum = bits.value;
        return kind;
    }
};

// The combination of the values of this and of all lower lanes.
template <class Operator> __device__ inline VALUE up_to_lane(VALUE value, int lane) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const VALUE lower = of_lane(value, lane < distance ? lane : lane - distance);
        if (lane >= distance) value = Operator::of(lower, value);
    }
    return value;
}

// The combination of all tiles before this one, by a warp.  Each of them was begun by a block that waits for
// earlier tiles only, so this ends.
template <class Operator> __device__ inline VALUE before_tile(const Tiles &tiles, i64 tile, int lane) {
    VALUE before = Operator::neutral();
    for (i64 last = tile - 1;; last -= 32) {
        u32 kind = WHOLE_SUM;
        VALUE sum = Operator::neutral();
        if (last >= lane) kind = tiles.read(last - lane, sum);
        const u32 wholes = __ballot_sync(ALL_LANES, kind == WHOLE_SUM);
        // Higher lanes are earlier tiles: those behind the first whole sum are in it.
        if (wholes && lane >= __ffsll(wholes)) sum = Operator::neutral();
        for (int distance = 16; distance; distance /= 2) sum = Operator::of(of_lane(sum, lane ^ distance), sum);
        before = Operator::of(sum, before);
        if (wholes) return before;
    }
}

// sums[k + 1] is the combination of the values of steps 0 … k, and sums[0] is neutral.  places_of(first, places) tells
// for the steps of a pack the places of their values: vertices, NO_VALUE, or undone(vertex) for the inverse.  Where
// each step has its own place, it is `in_order`, and nobody asks.
constexpr VERTEX NO_VALUE = -1;
__device__ inline VERTEX undone(VERTEX vertex) { return -2 - vertex; }

// The values of a thread in a tile, the first of which is that of step `first`.
template <class Operator, class Places>
__device__ inline void load_tile(i64 first, i64 count, bool in_order, const VALUE *from, Places places_of,
                                 VALUE (&values)[PACKS][PACK]) {
#pragma unroll
    for (int row = 0; row < PACKS; row++) {
        const i64 step = first + row * 32 * PACK;
#pragma unroll
        for (int k = 0; k < PACK; k++) values[row][k] = Operator::neutral();
        if (in_order) {
            load(from, step, count, values[row]);
            continue;
        }
        VERTEX places[PACK];
        places_of(step, places);
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            if (places[k] != NO_VALUE) values[row][k] = from[places[k] < 0 ? undone(places[k]) : places[k]];
            if (places[k] < NO_VALUE) values[row][k] = Operator::inverse(values[row][k]);
        }
    }
}

// The sums of the steps of a thread in each row of its warp, up to each step; returns that of all rows of the warp.
template <class Operator> __device__ inline VALUE scan_warp(VALUE (&values)[PACKS][PACK], int lane) {
    VALUE up_to[PACKS], carry = Operator::neutral();
#pragma unroll
    for (int row = 0; row < PACKS; row++) {
#pragma unroll
        for (int k = 1; k < PACK; k++) values[row][k] = Operator::of(values[row][k - 1], values[row][k]);
        up_to[row] = up_to_lane<Operator>(values[row][PACK - 1], lane);
    }
#pragma unroll
    for (int row = 0; row < PACKS; row++) {
        const VALUE lower = of_lane(up_to[row], lane ? lane - 1 : 0), all = of_lane(up_to[row], 31);
        const VALUE before = lane ? Operator::of(carry, lower) : carry;
#pragma unroll
        for (int k = 0; k < PACK; k++) values[row][k] = Operator::of(before, values[row][k]);
        carry = Operator::of(carry, all);
    }
    return carry;
}

template <class Operator, class Places>
__device__ inline void scan(i64 count, const Tiles &tiles, bool in_order, const VALUE *from, VALUE *sums,
                            Places places_of) {
    __shared__ VALUE of_warp[TILE_WARPS], before_all;
    __shared__ u32 ticket;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (this_thread() == 0) sums[0] = Operator::neutral();
    if (threadIdx.x == 0) ticket = atomicAdd(tiles.taken, 1u);
    __syncthreads();
    for (i64 tile; (tile = ticket) * TILE < count;) {
        const i64 first = tile * TILE + warp * 32 * ITEMS + lane * PACK;
        VALUE values[PACKS][PACK];
        load_tile<Operator>(first, count, in_order, from, places_of, values);
        const VALUE carry = scan_warp<Operator>(values, lane);
        if (lane == 0) of_warp[warp] = carry;
        __syncthreads();
        if (warp == 0) {
            if (lane == 0) ticket = atomicAdd(tiles.taken, 1u);
            const VALUE up_to = up_to_lane<Operator>(lane < TILE_WARPS ? of_warp[lane] : Operator::neutral(), lane);
            const VALUE own = of_lane(up_to, TILE_WARPS - 1);
            VALUE before = Operator::neutral();
            if (tile) {
                if (lane == 0) tiles.publish(tile, OWN_SUM, own);
                before = before_tile<Operator>(tiles, tile, lane);
            }
            if (lane == 0) {
                tiles.publish(tile, WHOLE_SUM, Operator::of(before, own));
                before_all = before;
            }
            // From here on what the lower warps have.
            const VALUE lower = of_lane(up_to, lane ? lane - 1 : 0);
            if (lane < TILE_WARPS) of_warp[lane] = lane ? lower : Operator::neutral();
        }
        __syncthreads();
        const VALUE before = Operator::of(before_all, of_warp[warp]);
#pragma unroll
        for (int row = 0; row < PACKS; row++) {
#pragma unroll
            for (int k = 0; k < PACK; k++) values[row][k] = Operator::of(before, values[row][k]);
            // The sums begin one place before a pack.
            store(sums + 1, first + row * 32 * PACK, count, values[row]);
        }
    }
}
