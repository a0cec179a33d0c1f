// Scans in one pass: each tile of a row publishes its sum, and looks back for the sums before it (Merrill, Garland).
//
// Defined by the loader: VERTEX, VALUE.
#include "operators.cuh"

// Values of a thread, and of a tile, which a block scans.
constexpr int ITEMS = 32, TILE = THREADS * ITEMS, TILE_WARPS = THREADS / 32;
// What a tile has published, unless it is 0: its own sum, or that of itself and all before it.
constexpr u32 OWN_SUM = 1, WHOLE_SUM = 2;

// What tiles publish.  A sum of 32 bits stands in one word with its state; one of 64 bits stands beside it, the
// whole sum in another place than the own, because somebody may read that still.
struct Tiles {
    u32 *taken;                  // how many tiles blocks have begun
    u64 *state;                  // of each tile
    VALUE *sums;                 // two of each tile

    __device__ inline void publish(i64 tile, u32 kind, VALUE sum) const {
        volatile u64 *word = state + tile;
        if constexpr (sizeof(VALUE) == 4) {
            Bits<VALUE> bits;
            bits.value = sum;
            *word = u64(kind) << 32 | bits.word;
        } else {
            *(volatile VALUE *)&sums[2 * tile + kind - 1] = sum;
            __threadfence();
            *word = kind;
        }
    }
    // Waits until the tile has published something.
    __device__ inline u32 read(i64 tile, VALUE &sum) const {
        volatile u64 *at = state + tile;
        u64 word;
        while (!(word = *at)) {}
        if constexpr (sizeof(VALUE) == 4) {
            Bits<VALUE> bits;
            bits.word = u32(word);
            sum = bits.value;
            return word >> 32;
        } else {
            __threadfence();
            sum = *(volatile VALUE *)&sums[2 * tile + word - 1];
            return word;
        }
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

// sums[k + 1] is the combination of the values of steps 0 … k, and sums[0] is neutral.  places(first, place) tells for
// step first + 32·k, of which a lane has each 32nd, the place of its value in place[k]: a vertex, NO_VALUE, or
// undone(vertex) for the inverse.
constexpr VERTEX NO_VALUE = -1;
__device__ inline VERTEX undone(VERTEX vertex) { return -2 - vertex; }

template <class Operator, class Places>
__device__ inline void scan(i64 count, const Tiles &tiles, const VALUE *from, VALUE *sums, Places places) {
    __shared__ VALUE of_warp[TILE_WARPS], before_all;
    __shared__ u32 ticket;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (this_thread() == 0) sums[0] = Operator::neutral();
    while (true) {
        __syncthreads();
        if (threadIdx.x == 0) ticket = atomicAdd(tiles.taken, 1u);
        __syncthreads();
        const i64 tile = ticket, first = tile * TILE + warp * 32 * ITEMS + lane;
        if (tile * TILE >= count) return;
        VERTEX place[ITEMS];
        VALUE values[ITEMS];
        places(first, place);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            values[k] = Operator::neutral();
            if (place[k] != NO_VALUE) values[k] = from[place[k] < 0 ? undone(place[k]) : place[k]];
            if (place[k] < NO_VALUE) values[k] = Operator::inverse(values[k]);
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) values[k] = up_to_lane<Operator>(values[k], lane);
        VALUE carry = Operator::neutral();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const VALUE row = of_lane(values[k], 31);
            values[k] = Operator::of(carry, values[k]);
            carry = Operator::of(carry, row);
        }
        if (lane == 0) of_warp[warp] = carry;
        __syncthreads();
        if (warp == 0) {
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
        for (int k = 0; k < ITEMS; k++) {
            if (first + 32 * k < count) sums[first + 32 * k + 1] = Operator::of(before, values[k]);
        }
    }
}
