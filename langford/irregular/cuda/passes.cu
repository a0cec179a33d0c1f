// Accumulations over trees by compressed edges, or by levels.
//
// Defined by the loader: VERTEX, VALUE.
#include "operators.cuh"
#include "passes.cuh"

// values[target] ∘= values[source] for all entries, step by step, or, if `down`, from the last step to the first
// values[source] = values[target] ∘ values[source].
extern "C" __global__ void accumulate(int op, int down, i64 steps, const i64 *bounds, const VERTEX *targets,
                                      const VERTEX *sources, VALUE *values, u32 *gate) {
    if (down) {
        run_steps(steps, bounds, true, gate, [=](i64 begin, i64 end, i64 thread, i64 threads) {
            load_ahead(begin, end, thread, threads, [=](i64 entry) {
                const VERTEX source = sources[entry];
                return Placed<VALUE>{source, combined(op, values[targets[entry]], values[source])};
            }, [=](i64, Placed<VALUE> whole) { values[whole.at] = whole.value; });
        });
    } else {
        run_steps(steps, bounds, false, gate, [=](i64 begin, i64 end, i64 thread, i64 threads) {
            pass_up<VALUE>(begin, end, thread, threads, targets,
                           [=](i64 entry) { return values[sources[entry]]; },
                           [=](VALUE one, VALUE other) { return combined(op, one, other); },
                           [=](VERTEX target, VALUE value) { combine_at(op, &values[target], value); });
        });
    }
}
