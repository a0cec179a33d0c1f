// Kernels in which all blocks wait for each other: all are on the GPU at the same time, and on the host there is one.
//
// Defined by the loader: THREADS.
#include "arrays.cuh"

// Words of a gate; zeros at the start.
constexpr int GATE_WORDS = 3;

// Returns when all blocks have come, and whether any thread of any block voted.
__device__ inline bool any_of_all(u32 *gate, bool vote) {
    const u32 mine = __syncthreads_or(vote) ? 1 : 0;
#ifdef LANGFORD_HOST
    return mine;
#else
    __shared__ u32 outcome;
    if (threadIdx.x == 0) {
        volatile u32 *turn = gate + 1, *votes = gate + 2;
        __threadfence();
        const u32 now = *turn, ticket = 1 + (mine << 16);
        // The lower half counts the blocks that have come, the upper half those that voted.
        const u32 come = atomicAdd(gate, ticket) + ticket;
        if ((come & 0xFFFF) == gridDim.x) {
            *votes = come >> 16;
            *gate = 0;
            __threadfence();
            *turn = now + 1;
        } else {
            while (*turn == now) {}
        }
        __threadfence();
        outcome = *votes;
    }
    __syncthreads();
    return outcome;
#endif
}

// Returns when all blocks have come.
__device__ inline void meet(u32 *gate) { any_of_all(gate, false); }
