// Accumulations over trees by compressed edges, or by levels.
//
// Defined by the loader: VERTEX, VALUE.
#include "operators.cuh"
#include "passes.cuh"

// values[target] ∘= values[source] for all entries, step by step, or, if `down`, from the last step to the first
// values[source] = values[target] ∘ values[source].
extern "C" __global__ void accumulate(int op, int down, i64 steps, const i64 *bounds, const VERTEX *targets,
                                      const VERTEX *sources, VALUE *values, u32 *gate) {
    for (i64 turn = 0; turn < steps; turn++) {
        const i64 step = down ? steps - 1 - turn : turn, begin = bounds[2 * step], end = bounds[2 * step + 1];
        if (turn) meet(gate);
        if (down) {
            EACH(at, end - begin) {
                const VERTEX source = sources[begin + at];
                values[source] = combined(op, values[targets[begin + at]], values[source]);
            }
        } else {
            pass_up<VALUE>(begin, end, targets, [=](i64 entry) { return values[sources[entry]]; },
                           [=](VALUE one, VALUE other) { return combined(op, one, other); },
                           [=](VERTEX target, VALUE value) { combine_at(op, &values[target], value); });
        }
    }
}
