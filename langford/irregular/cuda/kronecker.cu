// Graph500's edges; the same as langford/irregular/cpu/kronecker.py makes.
//
// Defined by the loader: VERTEX.
#include "arrays.cuh"

__device__ inline u64 mixed(u64 word) {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ull;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBull;
    return word ^ (word >> 31);
}

constexpr u64 STEP = 0x9E3779B97F4A7C15ull;

// Another number of `scale` bits, different for different vertices.
__device__ inline u64 scrambled(u64 vertex, int scale, const u64 (&keys)[3]) {
    const u64 mask = (1ull << scale) - 1;
    const int half = (scale + 1) / 2;
    for (int turn = 0; turn < 3; turn++) {
        vertex = (vertex * (keys[turn] | 1) + (keys[turn] >> 32)) & mask;
        vertex ^= vertex >> half;
    }
    return vertex;
}

// Edges first … first + count − 1; parameters: the seed and the thresholds of the quadrants.
extern "C" __global__ void generate(i64 first, i64 count, int scale, const u64 *parameters, VERTEX *sources,
                                    VERTEX *targets) {
    u64 keys[3];
    for (int turn = 0; turn < 3; turn++) keys[turn] = mixed(parameters[0] * STEP + turn + 1);
    const u64 start = mixed(parameters[0] + STEP);
    EACH(at, count) {
        u64 state = mixed(start + u64(first + at) * STEP), source = 0, target = 0, draw = 0;
        for (int level = 0; level < scale; level++) {
            if (level % 2 == 0) draw = mixed(state += STEP);
            const u64 part = draw & 0xFFFFFFFFull;
            draw >>= 32;
            const bool down = part >= parameters[2];
            const bool right = part >= parameters[3] || (part >= parameters[1] && !down);
            source = source << 1 | down;
            target = target << 1 | right;
        }
        sources[at] = VERTEX(scrambled(source, scale, keys));
        targets[at] = VERTEX(scrambled(target, scale, keys));
    }
}
