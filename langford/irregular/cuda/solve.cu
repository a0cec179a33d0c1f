// Triangular solves of matrices of trees, in double precision.
//
// Defined by the loader: VERTEX.
#include "passes.cuh"

// What to do: bits of `parts`.
constexpr int FORWARD = 1, DIVIDE = 2, BACKWARD = 4;

// Takes the right sides b into x, both [n, columns], and solves: Lz = b forwards, division by the pivots, Lᵀx = z
// backwards.  The steps have a factor for each entry.  gate: GATE zeros; the last becomes 1 where b has a number that
// is not finite.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 4)
solve(int parts, i64 n, i64 columns, i64 steps, const i64 *bounds, const VERTEX *targets, const VERTEX *sources,
      const double *factors, const double *pivots, const double *b, double *x, u32 *gate) {
    const i64 all = n * columns, thread = this_thread(), threads = all_threads();
    load_ahead(0, all, thread, threads, [=](i64 at) { return b[at]; }, [=](i64 at, double number) {
        if (!(number - number == 0)) gate[GATE - 1] = 1;
        x[at] = number;
    });
    if (parts & FORWARD) {
        run_steps(steps, bounds, false, gate, [=](i64 begin, i64 end, i64 thread, i64 threads) {
            for (i64 column = 0; column < columns; column++) {
                pass_up<double>(begin, end, thread, threads, targets,
                                [=](i64 entry) { return factors[entry] * x[sources[entry] * columns + column]; },
                                [](double one, double other) { return one + other; },
                                [=](VERTEX target, double sum) { add_atomically(&x[target * columns + column], sum); });
            }
        });
    }
    if (parts & DIVIDE) {
        wait_for_all<ROUND>(gate);
        load_ahead(0, all, thread, threads, [=](i64 at) { return x[at] / pivots[columns == 1 ? at : at / columns]; },
                   [=](i64 at, double quotient) { x[at] = quotient; });
    }
    if (parts & BACKWARD) {
        run_steps(steps, bounds, true, gate, [=](i64 begin, i64 end, i64 thread, i64 threads) {
            load_ahead(begin * columns, end * columns, thread, threads, [=](i64 piece) {
                const i64 entry = columns == 1 ? piece : piece / columns, column = piece - entry * columns;
                const i64 at = sources[entry] * columns + column;
                return Placed<double>{at, x[at] + factors[entry] * x[targets[entry] * columns + column]};
            }, [=](i64, Placed<double> sum) { x[sum.at] = sum.value; });
        });
    }
}
