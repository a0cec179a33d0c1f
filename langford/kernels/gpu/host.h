// A block of CUDA threads on the host: the shim under which tests compile the kernels.
//
// Threads are fibers that run in turn until they wait at a barrier; blocks run one after the other.
// Shared memory is static: one block exists at a time.
#pragma once
#define LANGFORD_HOST
#undef _FORTIFY_SOURCE   // its longjmp wants to stay on one stack
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <ucontext.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __constant__
#define __shared__ static

struct Dimensions { int x; };
static Dimensions threadIdx, blockIdx, gridDim;

static const size_t STACK = 1 << 17;
// A thread; between its turns it stays where it waits.  (Not by swapcontext, which asks the system for the
// signal mask at every switch.)
struct Fiber {
    char *stack = new char[STACK];  // for ever; not set to zero, so what no thread reaches takes no memory
    ucontext_t start;
    jmp_buf place;
    enum { NEW, WAITING, DONE } state;
};
static std::vector<Fiber> fibers;
static jmp_buf scheduler;

static void give_way() {
    if (!_setjmp(fibers[threadIdx.x].place)) _longjmp(scheduler, 1);
}
static void give_turn(int k) {
    threadIdx.x = k;
    if (_setjmp(scheduler)) return;
    if (fibers[k].state == Fiber::WAITING) _longjmp(fibers[k].place, 1);
    fibers[k].state = Fiber::WAITING;
    setcontext(&fibers[k].start);
}

// Waits until `size` threads have come.
struct Barrier { int come = 0, round = 0; };
static Barrier block_barrier, warp_barriers[32];

static inline void wait_at(Barrier &barrier, int size) {
    int round = barrier.round;
    if (++barrier.come == size) {
        barrier.come = 0;
        barrier.round++;
    }
    while (barrier.round == round) give_way();
}
static inline void __syncthreads() { wait_at(block_barrier, fibers.size()); }
static inline int __syncthreads_or(int found) {
    static int any, all;
    __syncthreads();
    any |= found;
    __syncthreads();
    all = any;
    __syncthreads();
    any = 0;
    return all;
}
static inline void __syncwarp() { wait_at(warp_barriers[threadIdx.x / 32], 32); }
static inline int __popc(unsigned word) { return __builtin_popcount(word); }
static inline int __popcll(unsigned long long word) { return __builtin_popcountll(word); }
static inline int __clz(int word) { return word ? __builtin_clz(word) : 32; }
static inline int __clzll(long long word) { return word ? __builtin_clzll(word) : 64; }
static inline int __ffsll(long long word) { return __builtin_ffsll(word); }
static inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return ((unsigned long long)high << 32 | low) << (shift & 31) >> 32;
}
static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return ((unsigned long long)high << 32 | low) >> (shift & 31);
}
static inline unsigned long long __brevll(unsigned long long word) {
    unsigned long long turned = 0;
    for (int k = 0; k < 64; k++) turned |= (word >> k & 1) << (63 - k);
    return turned;
}

// The value of another thread of the warp.
static long long exchanged[32][32];
static inline long long __shfl_sync(unsigned, long long value, int lane) {
    long long *warp = exchanged[threadIdx.x / 32];
    __syncwarp();
    warp[threadIdx.x % 32] = value;
    __syncwarp();
    return warp[lane];
}
static inline long long __shfl_xor_sync(unsigned all, long long value, int mask) {
    return __shfl_sync(all, value, threadIdx.x % 32 ^ mask);
}

static bool voted[32][32];
static inline unsigned __ballot_sync(unsigned, bool vote) {
    bool *warp = voted[threadIdx.x / 32];
    __syncwarp();
    warp[threadIdx.x % 32] = vote;
    __syncwarp();
    unsigned votes = 0;
    for (int k = 0; k < 32; k++) votes |= unsigned(warp[k]) << k;
    return votes;
}

static inline unsigned __reduce_add_sync(unsigned, unsigned value) {
    unsigned sum = 0;
    for (int lane = 0; lane < 32; lane++) sum += __shfl_sync(~0u, value, lane);
    return sum;
}

static inline bool __any_sync(unsigned all, bool vote) { return __ballot_sync(all, vote); }

static inline int __float_as_int(float number) {
    int bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

// A byte as a number: e4m3 for sums that are floats, else a signed byte.
static inline float number_of(unsigned char byte, float) {
    const int exponent = byte >> 3 & 15, mantissa = byte & 7;
    const float size = exponent ? std::ldexp(8.0f + mantissa, exponent - 10) : std::ldexp(float(mantissa), -9);
    return byte & 0x80 ? -size : size;
}
static inline int number_of(unsigned char byte, int) { return (signed char)byte; }

// The 16 × 8 product of a warp's matrices of bytes, as mma.m16n8k32 spreads them.
static unsigned operands[32][32][6];
template <class Entry>
static inline void multiply_on_host(Entry (&c)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                    unsigned b1) {
    const int lane = threadIdx.x % 32;
    unsigned (*warp)[6] = operands[threadIdx.x / 32];
    const unsigned own[6] = {a0, a1, a2, a3, b0, b1};
    __syncwarp();
    for (int k = 0; k < 6; k++) warp[lane][k] = own[k];
    __syncwarp();
    for (int k = 0; k < 4; k++) {
        const int row = lane / 4 * 4, column = (2 * (lane % 4) + k % 2) * 4;
        c[k] = 0;
        for (int element = 0; element < 32; element++) {
            const int t = element / 4 % 4, upper = element / 16, shift = 8 * (element % 4);
            c[k] += number_of(warp[row + t][2 * upper + k / 2] >> shift, Entry()) *
                    number_of(warp[column + t][4 + upper] >> shift, Entry());
        }
    }
}
static inline unsigned atomicOr(unsigned *at, unsigned bits) { unsigned old = *at; *at |= bits; return old; }
static inline unsigned atomicInc(unsigned *at, unsigned last) {
    unsigned old = *at;
    *at = old < last ? old + 1 : 0;
    return old;
}
template <class T> static inline T atomicAdd(T *at, T value) { T old = *at; *at += value; return old; }

// Runs `body` for every thread of every block.
template <class Body> static void launch(int blocks, int threads, Body body) {
    static Body *running;
    running = &body;
    fibers.resize(threads);
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        for (Fiber &fiber : fibers) {
            fiber.state = Fiber::NEW;
            getcontext(&fiber.start);
            fiber.start.uc_stack.ss_sp = fiber.stack;
            fiber.start.uc_stack.ss_size = STACK;
            makecontext(&fiber.start, +[] {
                (*running)();
                fibers[threadIdx.x].state = Fiber::DONE;
                _longjmp(scheduler, 1);
            }, 0);
        }
        for (bool any = true; any;) {
            any = false;
            for (int k = 0; k < threads; k++) {
                if (fibers[k].state == Fiber::DONE) continue;
                any = true;
                give_turn(k);
            }
        }
    }
}

// Runs a kernel of `threads` threads with the arguments that the pointers point to.
template <class... Types, std::size_t... I>
static void call(int blocks, int threads, void (*kernel)(Types...), void **arguments, std::index_sequence<I...>) {
    launch(blocks, threads, [&] { kernel(*static_cast<Types *>(arguments[I])...); });
}
template <class... Types>
static void call(int blocks, int threads, void (*kernel)(Types...), void **arguments) {
    call(blocks, threads, kernel, arguments, std::index_sequence_for<Types...>());
}
