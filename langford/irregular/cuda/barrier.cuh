// A barrier of all blocks, which must be on the GPU at the same time.  On the host there is one.
#include "arrays.cuh"

// Returns when all blocks have come; gate[0] and gate[ROUND] are zeros at the start.  Those that wait look at the
// second: where it stands on another line of the cache than the first, they do not hold up those that come.
template <int ROUND = 1> __device__ inline void wait_for_all(u32 *gate) {
    __syncthreads();
#ifndef LANGFORD_HOST
    if (threadIdx.x == 0) {
        volatile u32 *round = gate + ROUND;
        __threadfence();
        const u32 now = *round;
        if (atomicAdd(gate, 1u) == gridDim.x - 1) {
            *gate = 0;
            __threadfence();
            *round = now + 1;
        } else {
            while (*round == now) {}
        }
        __threadfence();
    }
    __syncthreads();
#endif
}
