// Scans in one pass: each tile of a row publishes its sum, and looks back for the sums before it (Merrill, Garland).
//
// Defined by the loader: VALUE.
#include "operators.cuh"

// Values of a thread, and of a tile, which a block scans.
constexpr int ITEMS = 16, TILE = THREADS * ITEMS, TILE_WARPS = THREADS / 32;
// What a tile has published.
constexpr u32 NOTHING = 0, OWN_SUM = 1, WHOLE_SUM = 2;

// Where blocks meet.
struct Tiles {
    u32 *taken, *state;          // how many tiles blocks have begun, and what each has published
    VALUE *own, *whole;          // its sum, and the sum of it and of all before it
};

// The combination of the values of this and of all lower lanes.
template <class Operator> __device__ inline VALUE up_to_lane(VALUE value, int lane) {
    for (int distance = 1; distance < 32; distance *= 2) {
        const VALUE lower = of_lane(value, lane < distance ? lane : lane - distance);
        if (lane >= distance) value = Operator::of(lower, value);
    }
    return value;
}

// The combination of all tiles before this one, by a warp.  A tile before it has been begun by a block that waits
// for nobody after it, so this ends.
template <class Operator> __device__ inline VALUE before_tile(const Tiles &tiles, i64 tile, int lane) {
    volatile u32 *state = tiles.state;
    volatile VALUE *own = tiles.own, *whole = tiles.whole;
    VALUE before = Operator::neutral();
    for (i64 last = tile - 1;; last -= 32) {
        const i64 other = last - lane;
        u32 published = WHOLE_SUM;
        VALUE sum = Operator::neutral();
        if (other >= 0) {
            while ((published = state[other]) == NOTHING) {}
            __threadfence();
            sum = published == WHOLE_SUM ? whole[other] : own[other];
        }
        const u32 wholes = __ballot_sync(ALL_LANES, published == WHOLE_SUM);
        // Higher lanes are earlier tiles: those behind the first whole sum are in it.
        if (wholes && lane >= __ffsll(wholes)) sum = Operator::neutral();
        for (int distance = 16; distance; distance /= 2) sum = Operator::of(of_lane(sum, lane ^ distance), sum);
        before = Operator::of(sum, before);
        if (wholes) return before;
    }
}

// sums[k + 1] = load(0) ∘ … ∘ load(k), and sums[0] is neutral.
template <class Operator, class Load> __device__ inline void scan(i64 count, const Tiles &tiles, VALUE *sums, Load load) {
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
        VALUE values[ITEMS];
#pragma unroll
        for (int k = 0; k < ITEMS; k++) values[k] = first + 32 * k < count ? load(first + 32 * k) : Operator::neutral();
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
                if (lane == 0) {
                    *(volatile VALUE *)&tiles.own[tile] = own;
                    __threadfence();
                    *(volatile u32 *)&tiles.state[tile] = OWN_SUM;
                }
                before = before_tile<Operator>(tiles, tile, lane);
            }
            if (lane == 0) {
                *(volatile VALUE *)&tiles.whole[tile] = Operator::of(before, own);
                __threadfence();
                *(volatile u32 *)&tiles.state[tile] = WHOLE_SUM;
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
