// Sparse products over compressed edges, all steps in one launch.
//
// Defined by the loader: VERTEX.  Step s has the entries bounds[2s] … bounds[2s + 1] − 1; in a step equal targets
// stand together, and no target is a source.  All blocks must be on the GPU at the same time; on the host there is one.
#include "barrier.cuh"

// Entries of a step that one block does alone, up to this number, when the step before was as small: a barrier of
// all blocks would take longer.
constexpr i64 FEW = 1024;
// Words of a gate, and the one at which waiting blocks look.
constexpr int GATE = 64, ROUND = 32;

// Runs body(step, thread, threads) for all steps, from the last to the first if `down`: what a step does is done before
// the next begins.  The body's threads are numbered among those that take part.
template <class Body> __device__ inline void run_steps(i64 steps, const i64 *bounds, bool down, u32 *gate, Body body) {
    bool alone = false;
    for (i64 turn = 0; turn < steps; turn++) {
        const i64 step = down ? steps - 1 - turn : turn;
        const bool few = bounds[2 * step + 1] - bounds[2 * step] <= FEW;
        if (few && alone) __syncthreads();
        else wait_for_all<ROUND>(gate);
        alone = few;
        if (!few) body(bounds[2 * step], bounds[2 * step + 1], this_thread(), all_threads());
        else if (blockIdx.x == 0) body(bounds[2 * step], bounds[2 * step + 1], i64(threadIdx.x), i64(THREADS));
    }
}

// A value and where it goes.
template <class T> struct Placed {
    i64 at;
    T value;
};

// Combines the terms of all entries with the same target: `update(target, value)` for each of them, or several
// times.  A warp takes entries that stand together, AHEAD rows of them at a time.
template <class T, class Term, class Combine, class Update>
__device__ inline void pass_up(i64 begin, i64 end, i64 thread, i64 threads, const VERTEX *targets, Term term,
                               Combine combine, Update update) {
    const int lane = threadIdx.x % 32;
    const i64 rows = (end - begin + 31) / 32, warps = threads / 32, share = (rows + warps - 1) / warps;
    const i64 first = begin + thread / 32 * share * 32, last = first + share * 32 < end ? first + share * 32 : end;
    // What the lower rows have left for a target that may go on.
    VERTEX open = -1;
    T rest = T(0);
    const auto take = [&](bool active, VERTEX target, T value) {
        if (lane == 0 && open >= 0) {
            if (open == target) value = combine(rest, value);
            else update(open, rest);
        }
        const VERTEX lower = of_lane(target, lane ? lane - 1 : 0), higher = of_lane(target, lane < 31 ? lane + 1 : 31);
        const u32 heads = __ballot_sync(ALL_LANES, lane == 0 || lower != target);
        const int head = 31 - __clz(int(heads & ALL_LANES >> (31 - lane)));
        if (heads != ALL_LANES) {
            for (int distance = 1; distance < 32; distance *= 2) {
                const T other = of_lane(value, lane < distance ? lane : lane - distance);
                if (lane - distance >= head) value = combine(other, value);
            }
        }
        open = of_lane(target, 31);
        rest = of_lane(value, 31);
        if (active && target != open && higher != target) update(target, value);
    };
    for (i64 row = first; row < last; row += 32 * AHEAD) {
        VERTEX target[AHEAD];
        T value[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const i64 entry = row + k * 32 + lane;
            target[k] = entry < last ? targets[entry] : VERTEX(-1);
            value[k] = entry < last ? term(entry) : T(0);
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            if (row + k * 32 < last) take(row + k * 32 + lane < last, target[k], value[k]);
        }
    }
    if (lane == 0 && open >= 0) update(open, rest);
}
