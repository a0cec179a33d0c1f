// A block of CUDA threads on the host: the shim under which tests compile the kernels.
//
// Threads are fibers that run in turn until they wait at a barrier; blocks run one after the other.
// Shared memory is static: one block exists at a time.
#pragma once
#define LANGFORD_HOST
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __shared__ static

struct Dimensions { int x; };
static Dimensions threadIdx, blockIdx, gridDim;
static ucontext_t scheduler;
static std::vector<ucontext_t> fibers;

// Waits until `size` threads have come.
struct Barrier { int come = 0, round = 0; };
static Barrier block_barrier, warp_barriers[32];

static inline void wait_at(Barrier &barrier, int size) {
    int round = barrier.round;
    if (++barrier.come == size) {
        barrier.come = 0;
        barrier.round++;
    }
    while (barrier.round == round) swapcontext(&fibers[threadIdx.x], &scheduler);
}
static inline void __syncthreads() { wait_at(block_barrier, fibers.size()); }
static inline void __syncwarp() { wait_at(warp_barriers[threadIdx.x / 32], 32); }
static inline int __popc(unsigned word) { return __builtin_popcount(word); }
static inline int __popcll(unsigned long long word) { return __builtin_popcountll(word); }
static inline int __ffs(int word) { return __builtin_ffs(word); }
template <class T> static inline T atomicAdd(T *at, T value) { T old = *at; *at += value; return old; }

// Runs `body` for every thread of every block.
template <class Body> static void launch(int blocks, int threads, Body body) {
    static Body *running;
    static std::vector<bool> done;
    running = &body;
    std::vector<std::vector<char>> stacks(threads, std::vector<char>(1 << 17));
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        fibers.assign(threads, ucontext_t());
        done.assign(threads, false);
        for (int k = 0; k < threads; k++) {
            getcontext(&fibers[k]);
            fibers[k].uc_stack.ss_sp = stacks[k].data();
            fibers[k].uc_stack.ss_size = stacks[k].size();
            fibers[k].uc_link = &scheduler;
            makecontext(&fibers[k], +[] { (*running)(); done[threadIdx.x] = true; }, 0);
        }
        for (bool any = true; any;) {
            any = false;
            for (int k = 0; k < threads; k++) {
                if (done[k]) continue;
                any = true;
                threadIdx.x = k;
                swapcontext(&scheduler, &fibers[k]);
            }
        }
    }
}
