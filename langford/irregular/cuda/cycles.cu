// Howard's policy iteration, every phase over all vertices at once.
//
// Defined by the loader: VERTEX, WEIGHT (i64 or double).  Edges are those inside strong components, in rows
// (indptr); a policy is an edge for each vertex, −1 where there is none.
#include "arrays.cuh"

// Distances of whole numbers must fit into 62 bits; those of floats need not.
constexpr bool WHOLE = WEIGHT(1) / WEIGHT(2) == WEIGHT(0);
constexpr i64 LARGEST = 1ll << 62;

__device__ inline WEIGHT cost(WEIGHT weight, WEIGHT time, WEIGHT numerator, WEIGHT denominator) {
    return denominator * weight - numerator * time;
}

// The first of the lightest edges of each vertex.
extern "C" __global__ void lightest(i64 n, const i64 *indptr, const WEIGHT *weights, i64 *policy) {
    EACH(vertex, n) {
        i64 best = -1;
        for (i64 edge = indptr[vertex]; edge < indptr[vertex + 1]; edge++) {
            if (best < 0 || weights[edge] < weights[best]) best = edge;
        }
        policy[vertex] = best;
    }
}

// Where the policy leads from each vertex, and the least vertex on the way: the start of the pointer jumping.
extern "C" __global__ void begin_jumps(i64 n, const i64 *policy, const VERTEX *targets, i64 *following, i64 *least) {
    EACH(vertex, n) {
        following[vertex] = policy[vertex] < 0 ? vertex : targets[policy[vertex]];
        least[vertex] = vertex;
    }
}

// Double the steps.  After enough of them `following` of any vertex is on a cycle, and `least` of a vertex on a cycle
// is the cycle's least.
extern "C" __global__ void double_jumps(i64 n, const i64 *following, const i64 *least, i64 *after, i64 *new_least) {
    EACH(vertex, n) {
        const i64 next = following[vertex];
        after[vertex] = following[next];
        new_least[vertex] = least[vertex] < least[next] ? least[vertex] : least[next];
    }
}

// From each vertex to the leader of its cycle: leaders stay, the others step along the policy.
extern "C" __global__ void begin_sums(i64 n, const i64 *policy, const VERTEX *targets, const WEIGHT *weights,
                                      const WEIGHT *times, const i64 *reached, const i64 *least, i64 *following,
                                      WEIGHT *sums, WEIGHT *durations, signed char *leads) {
    EACH(vertex, n) {
        const i64 edge = policy[vertex];
        leads[vertex] = edge >= 0 && least[reached[vertex]] == vertex;
        const bool stays = edge < 0 || leads[vertex];
        following[vertex] = stays ? vertex : targets[edge];
        sums[vertex] = stays ? WEIGHT(0) : weights[edge];
        durations[vertex] = stays ? WEIGHT(0) : times[edge];
    }
}
extern "C" __global__ void double_sums(i64 n, const i64 *following, const WEIGHT *sums, const WEIGHT *durations,
                                       i64 *after, WEIGHT *new_sums, WEIGHT *new_durations) {
    EACH(vertex, n) {
        const i64 next = following[vertex];
        after[vertex] = following[next];
        new_sums[vertex] = sums[vertex] + sums[next];
        new_durations[vertex] = durations[vertex] + durations[next];
    }
}

// Distances of the vertices that the policy leads to the root of their component; the others wait with state 2.
// ratios: numerator and denominator of each component.
extern "C" __global__ void measure(i64 n, const VERTEX *labels, const signed char *active, const i64 *roots,
                                   const WEIGHT *ratios, const i64 *leader, const WEIGHT *sums,
                                   const WEIGHT *durations, const i64 *policy, WEIGHT *distance, signed char *state,
                                   int *flags) {
    EACH(vertex, n) {
        const VERTEX label = labels[vertex];
        state[vertex] = 0;
        if (policy[vertex] < 0 || !active[label]) continue;
        if (leader[vertex] != roots[label]) {
            state[vertex] = 2;
            flags[0] = 1;
            continue;
        }
        state[vertex] = 1;
        distance[vertex] = cost(sums[vertex], durations[vertex], ratios[2 * label], ratios[2 * label + 1]);
        if (!WHOLE) continue;
        const double rough = double(ratios[2 * label + 1]) * double(sums[vertex]) -
                             double(ratios[2 * label]) * double(durations[vertex]);
        if (rough > double(LARGEST) || rough < -double(LARGEST)) flags[1] = 1;
    }
}

// Vertices of state 2 with an edge to one of state 1 take it, and have state 3 until all of this round have.
extern "C" __global__ void lead_back(i64 n, const i64 *indptr, const VERTEX *targets, const WEIGHT *weights,
                                     const WEIGHT *times, const VERTEX *labels, const WEIGHT *ratios, i64 *policy,
                                     WEIGHT *distance, signed char *state, int *flags) {
    EACH(vertex, n) {
        if (state[vertex] != 2) continue;
        const VERTEX label = labels[vertex];
        for (i64 edge = indptr[vertex]; edge < indptr[vertex + 1]; edge++) {
            if (state[targets[edge]] != 1) continue;
            const WEIGHT length = distance[targets[edge]] +
                                  cost(weights[edge], times[edge], ratios[2 * label], ratios[2 * label + 1]);
            if (WHOLE && (length > WEIGHT(LARGEST) || length < -WEIGHT(LARGEST))) flags[1] = 1;
            policy[vertex] = edge;
            distance[vertex] = length;
            state[vertex] = 3;
            flags[0] = 1;
            break;
        }
    }
}
extern "C" __global__ void end_round(i64 n, signed char *state) {
    EACH(vertex, n) if (state[vertex] == 3) state[vertex] = 1;
}

// Each vertex of an active component chooses the edge over which it is nearest, if that is nearer by more than
// tolerance[0]; `still` says in which components any did.
extern "C" __global__ void improve(i64 n, const i64 *indptr, const VERTEX *targets, const WEIGHT *weights,
                                   const WEIGHT *times, const VERTEX *labels, const WEIGHT *ratios,
                                   const signed char *active, const WEIGHT *tolerance, const WEIGHT *distance,
                                   i64 *policy, signed char *still, int *flags) {
    EACH(vertex, n) {
        const VERTEX label = labels[vertex];
        if (policy[vertex] < 0 || !active[label]) continue;
        WEIGHT best = distance[vertex] - tolerance[0];
        i64 choice = policy[vertex];
        for (i64 edge = indptr[vertex]; edge < indptr[vertex + 1]; edge++) {
            const WEIGHT length = distance[targets[edge]] +
                                  cost(weights[edge], times[edge], ratios[2 * label], ratios[2 * label + 1]);
            if (length < best) {
                best = length;
                choice = edge;
            }
        }
        if (choice == policy[vertex]) continue;
        policy[vertex] = choice;
        still[label] = 1;
        flags[0] = 1;
    }
}
