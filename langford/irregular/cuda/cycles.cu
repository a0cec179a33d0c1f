// Howard's policy iteration: all rounds in one launch, with a barrier of all blocks between two phases.
//
// Defined by the loader: VERTEX.  Edges are those inside strong components, in rows (indptr); a policy is an edge for
// each vertex, −1 where there is none.
#include "grid.cuh"

// Distances must fit into 62 bits.
constexpr i64 LARGEST = 1ll << 62;

// Whether a / b < c / d, of positive denominators.
__device__ inline bool less(i64 a, i64 b, i64 c, i64 d) { return __int128(a) * d < __int128(c) * b; }

// A ratio in lowest terms.
__device__ inline void reduce(i64 &numerator, i64 &denominator) {
    u64 a = numerator < 0 ? 0 - u64(numerator) : u64(numerator), b = denominator;
    while (b) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    numerator /= i64(a);
    denominator /= i64(a);
}

// Steps along the policy: where they lead, and the least vertex on the way, without the first.  Read in one access.
struct alignas(2 * sizeof(VERTEX)) Hop { VERTEX next, least; };

// Ways along the policy to the leader of a cycle.
struct Ways {
    VERTEX *next;
    i64 *sum, *duration;
};

// A graph with its policy.
struct Policy {
    i64 n, timed;
    const i64 *indptr;
    const VERTEX *targets;
    const i64 *weights, *times;
    const VERTEX *labels;
    i64 *chosen;

    __device__ i64 time(i64 edge) const { return timed ? times[edge] : 1; }
    // Whether a vertex remains where it is: the leader of a cycle, or a vertex without a policy.
    __device__ bool stays(VERTEX vertex, Hop hop) const { return chosen[vertex] < 0 || hop.least == vertex; }
};

__device__ inline i64 cost(i64 weight, i64 time, i64 numerator, i64 denominator) {
    return denominator * weight - numerator * time;
}

// The leaders of cycles, compared by the ratios of those; the lower vertex of two with the same.
struct Better {
    const Policy &policy;
    Ways ways;

    // Once round: the leader's edge, and the way back from where it leads.
    __device__ void totals(VERTEX leader, i64 &sum, i64 &duration) const {
        const i64 edge = policy.chosen[leader];
        const VERTEX end = policy.targets[edge];
        sum = policy.weights[edge] + ways.sum[end];
        duration = policy.time(edge) + ways.duration[end];
    }
    __device__ VERTEX operator()(VERTEX one, VERTEX other) const {
        if (one < 0) return other;
        i64 sum, duration, other_sum, other_duration;
        totals(one, sum, duration);
        totals(other, other_sum, other_duration);
        if (less(sum, duration, other_sum, other_duration)) return one;
        if (less(other_sum, other_duration, sum, duration)) return other;
        return one < other ? one : other;
    }
};

// The components by their ratios; the lower label of two with the same.
struct LowerRatio {
    const i64 *ratios;

    __device__ VERTEX operator()(VERTEX one, VERTEX other) const {
        if (one < 0) return other;
        const i64 *a = ratios + 2 * one, *b = ratios + 2 * other;
        if (less(a[0], a[1], b[0], b[1])) return one;
        if (less(b[0], b[1], a[0], a[1])) return other;
        return one < other ? one : other;
    }
};

// The first of the lightest edges of each vertex.
extern "C" __global__ void lightest(i64 n, const i64 *indptr, const i64 *weights, i64 *policy) {
    EACH(vertex, n) {
        i64 best = -1;
        for (i64 edge = indptr[vertex]; edge < indptr[vertex + 1]; edge++) {
            if (best < 0 || weights[edge] < weights[best]) best = edge;
        }
        policy[vertex] = best;
    }
}

// The least vertex on the way from each vertex, by doubling the steps until none changes; returns where it is.
// A vertex on a cycle that is its own least is the cycle's leader.
__device__ Hop *find_leaders(const Policy &policy, Hop *hops, Hop *after, u32 *gate) {
    EACH(vertex, policy.n) {
        const i64 edge = policy.chosen[vertex];
        const VERTEX next = edge < 0 ? vertex : policy.targets[edge];
        hops[vertex] = Hop{next, next};
    }
    meet(gate);
    for (bool any = true; any;) {
        any = false;
        EACH(vertex, policy.n) {
            const Hop hop = hops[vertex], further = hops[hop.next];
            const bool lower = further.least < hop.least;
            after[vertex] = Hop{further.next, lower ? further.least : hop.least};
            any |= lower;
        }
        any = any_of_all(gate, any);
        Hop *other = hops;
        hops = after;
        after = other;
    }
    return hops;
}

// The ways to the leaders, by doubling the steps until all are there: in both of `ways` and `after`.
__device__ void go_to_leaders(const Policy &policy, const Hop *hops, Ways ways, Ways after, u32 *gate) {
    EACH(vertex, policy.n) {
        const bool stays = policy.stays(vertex, hops[vertex]);
        const i64 edge = stays ? 0 : policy.chosen[vertex];
        ways.next[vertex] = stays ? VERTEX(vertex) : policy.targets[edge];
        ways.sum[vertex] = stays ? 0 : policy.weights[edge];
        ways.duration[vertex] = stays ? 0 : policy.time(edge);
    }
    meet(gate);
    for (bool any = true; any;) {
        any = false;
        EACH(vertex, policy.n) {
            const VERTEX next = ways.next[vertex], further = ways.next[next];
            after.next[vertex] = further;
            after.sum[vertex] = ways.sum[vertex] + ways.sum[next];
            after.duration[vertex] = ways.duration[vertex] + ways.duration[next];
            any |= next != further;
        }
        any = any_of_all(gate, any);
        const Ways other = ways;
        ways = after;
        after = other;
    }
}

// The ratio of each component's best cycle, where it is better than all before; `best` keeps the leaders of those.
// Returns whether the length of an edge may need more than 62 bits.
__device__ bool choose_ratios(i64 components, const Better &better, const double *sizes, VERTEX *best, VERTEX *roots,
                              i64 *ratios) {
    bool wide = false;
    EACH(label, components) {
        if (best[label] < 0) continue;
        i64 numerator, denominator;
        better.totals(best[label], numerator, denominator);
        reduce(numerator, denominator);
        if (roots[label] >= 0 && !less(numerator, denominator, ratios[2 * label], ratios[2 * label + 1])) {
            best[label] = -1;
            continue;
        }
        roots[label] = best[label];
        ratios[2 * label] = numerator;
        ratios[2 * label + 1] = denominator;
        const double size = numerator < 0 ? -double(numerator) : double(numerator);
        wide |= double(denominator) * sizes[0] + size * sizes[1] >= double(LARGEST);
    }
    return wide;
}

// The distance of each vertex to the leader that the policy leads to.  Keeps the policy of components with a better
// cycle.  Returns whether a distance needs more than 62 bits.
__device__ bool measure(const Policy &policy, Ways ways, const VERTEX *best, const i64 *ratios, i64 *kept,
                        i64 *distance) {
    bool wide = false;
    EACH(vertex, policy.n) {
        const VERTEX label = policy.labels[vertex];
        const i64 numerator = ratios[2 * label], denominator = ratios[2 * label + 1];
        const i64 sum = ways.sum[vertex], duration = ways.duration[vertex];
        if (best[label] >= 0) kept[vertex] = policy.chosen[vertex];
        distance[vertex] = cost(sum, duration, numerator, denominator);
        const double rough = double(denominator) * double(sum) - double(numerator) * double(duration);
        wide |= rough > double(LARGEST) || rough < -double(LARGEST);
    }
    return wide;
}

// Each vertex chooses the edge over which it is nearest, if it is nearer; returns whether a thread's vertex did.
__device__ bool improve(const Policy &policy, const i64 *ratios, const i64 *distance, i64 *nearer) {
    bool any = false;
    EACH(vertex, policy.n) {
        const VERTEX label = policy.labels[vertex];
        const i64 numerator = ratios[2 * label], denominator = ratios[2 * label + 1], now = distance[vertex];
        i64 best = now;
        i64 choice = -1;
        for (i64 edge = policy.indptr[vertex]; edge < policy.indptr[vertex + 1]; edge++) {
            const i64 length = distance[policy.targets[edge]] +
                                  cost(policy.weights[edge], policy.time(edge), numerator, denominator);
            if (length < best) {
                best = length;
                choice = edge;
            }
        }
        nearer[vertex] = best;
        if (choice < 0) continue;
        policy.chosen[vertex] = choice;
        any = true;
    }
    return any;
}

// Up to `rounds` rounds.  Every leader of a cycle has distance 0, whichever cycle is the best of its component.  The
// ratios sink until no choice changes, and then the distances prove them (howard.py).
//
// sizes: heaviest weight, longest time.  best: leaders, one per component.  roots, ratios: per component the leader of
// the best cycle so far, −1 at first, and its numerator and denominator; kept: the policy when it was seen, since the
// policy may leave it for another that is as good.  top: of all components the one with the least ratio, −1 at first.
// record: rounds so far, whether no choice changed, whether a distance needs more than 62 bits.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 4)
iterate(i64 n, i64 components, i64 timed, i64 rounds, const i64 *indptr, const VERTEX *targets,
        const i64 *weights, const i64 *times, const VERTEX *labels, const double *sizes, i64 *chosen,
        i64 *kept, i64 *distance, i64 *nearer, Hop *hops, Hop *further_hops, VERTEX *next,
        VERTEX *further_next, i64 *sums, i64 *further_sums, i64 *durations, i64 *further_durations,
        VERTEX *best, VERTEX *roots, i64 *ratios, VERTEX *top, u32 *gate, i64 *record) {
    const Policy policy = {n, timed, indptr, targets, weights, times, labels, chosen};
    const Ways ways = {next, sums, durations}, further = {further_next, further_sums, further_durations};
    const Better better = {policy, ways};
    const bool first_thread = this_thread() == 0;
    for (bool changed = true; changed && rounds > 0; rounds--) {
        EACH(label, components) best[label] = -1;
        const Hop *leaders = find_leaders(policy, hops, further_hops, gate);
        go_to_leaders(policy, leaders, ways, further, gate);
        EACH(vertex, n) {
            if (chosen[vertex] < 0 || leaders[vertex].least != vertex) continue;
            combine_atomically(&best[labels[vertex]], VERTEX(vertex), better);
        }
        meet(gate);
        bool wide = any_of_all(gate, choose_ratios(components, better, sizes, best, roots, ratios));
        if (!wide) {
            EACH(label, components) {
                if (roots[label] >= 0) combine_atomically(top, VERTEX(label), LowerRatio{ratios});
            }
            wide = any_of_all(gate, measure(policy, ways, best, ratios, kept, distance));
        }
        if (first_thread) {
            record[0]++;
            record[2] = wide;
        }
        if (wide) return;
        // There and back: what the second sweep saves in rounds is more than it takes.
        changed = any_of_all(gate, improve(policy, ratios, distance, nearer));
        if (changed) any_of_all(gate, improve(policy, ratios, nearer, distance));
        if (first_thread) record[1] = !changed;
    }
}
