// Graph500's rules on the edges of the list.  It shares nothing with the searches.
//
// Defined by the loader: VERTEX.
#include "arrays.cuh"

// Looks at all edges.  `levels` and `parent`: of each vertex, −1 where it is not reached.  Marks in `joined` the
// vertices that an edge joins with their parent.  The outcome: edges with both ends reached, then the first edge that
// joins a reached vertex and another one, and the first between levels that are no neighbours.
extern "C" __global__ void check_edges(i64 n, i64 count, const VERTEX *sources, const VERTEX *targets,
                                       const VERTEX *levels, const VERTEX *parent, unsigned char *joined,
                                       u64 *outcome) {
    u64 inside = 0;
    EACH(at, count) {
        const VERTEX some = sources[at], other = targets[at];
        if (some < 0 || some >= n || other < 0 || other >= n) {
            atomicMin(&outcome[1], u64(at));
            continue;
        }
        const VERTEX of_some = levels[some], of_other = levels[other];
        if ((of_some < 0) != (of_other < 0)) atomicMin(&outcome[1], u64(at));
        if (of_some < 0 || of_other < 0) continue;
        inside++;
        const VERTEX step = of_some - of_other;
        if (step > 1 || step < -1) atomicMin(&outcome[2], u64(at));
        if (step == 1 && parent[some] == other && !joined[some]) joined[some] = 1;
        if (step == -1 && parent[other] == some && !joined[other]) joined[other] = 1;
    }
    if (inside) atomicAdd(&outcome[0], inside);
}
