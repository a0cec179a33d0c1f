// What all kernels of the irregular problems share.
//
// Defined by the loader: THREADS, and by each file's own list the types VERTEX, OFFSET, VALUE.

typedef long long i64;
typedef unsigned long long u64;
typedef unsigned u32;

extern "C" {
// No kernel here uses dynamic shared memory; the loader asks.
__device__ constexpr int shared_bytes = 0;
}

// LAUNCH_BOUNDS: how many blocks a multiprocessor holds at a time; more of them hide more of the time of loads, with
// fewer registers.
#ifdef LANGFORD_HOST
#define LAUNCH_BOUNDS(threads, blocks)
static inline void __threadfence() {}
template <class T> static inline T atomicCAS(T *at, T before, T after) {
    T old = *at;
    if (old == before) *at = after;
    return old;
}
template <class T> static inline T atomicMin(T *at, T value) {
    T old = *at;
    if (value < old) *at = value;
    return old;
}
template <class T> static inline T atomicMax(T *at, T value) {
    T old = *at;
    if (value > old) *at = value;
    return old;
}
#else
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#endif

constexpr u32 ALL_LANES = 0xFFFFFFFFu;

// The number of this thread among all, and their number.
__device__ inline i64 this_thread() { return blockIdx.x * i64(THREADS) + threadIdx.x; }
__device__ inline i64 all_threads() { return gridDim.x * i64(THREADS); }

// Every thread takes each all_threads()-th of `count` elements.
#define EACH(element, count) \
    for (i64 element = this_thread(); element < (count); element += all_threads())

// Elements that a thread loads before it stores any, where the compiler cannot know that this is allowed: so many loads
// are under way.
constexpr int AHEAD = 2;

// store(element, load(element)) for begin … end − 1, shared out among so many threads, which load `some` at a time.
template <int some = AHEAD, class Load, class Store>
__device__ inline void load_ahead(i64 begin, i64 end, i64 thread, i64 threads, Load load, Store store) {
    for (i64 first = begin + thread; first < end; first += some * threads) {
        decltype(load(first)) loaded[some];
#pragma unroll
        for (int k = 0; k < some; k++) loaded[k] = load(first + k * threads < end ? first + k * threads : first);
#pragma unroll
        for (int k = 0; k < some; k++) {
            if (first + k * threads < end) store(first + k * threads, loaded[k]);
        }
    }
}

// As EACH, with whole warps: the last of `element` may be beyond the end.
#define EACH_WARP(element, count) \
    for (i64 element = this_thread(); element < ((count) + 31) / 32 * 32; element += all_threads())

// A number of 32 or 64 bits as a word, for compare-and-swap.
template <int BYTES> struct WordOf;
template <> struct WordOf<4> { typedef u32 type; };
template <> struct WordOf<8> { typedef u64 type; };
template <class T> union Bits {
    T value;
    typename WordOf<sizeof(T)>::type word;
};

// The value of another thread of the warp.
template <class T> __device__ inline T of_lane(T value, int lane) {
    Bits<T> bits;
    bits.value = value;
    bits.word = typename WordOf<sizeof(T)>::type(__shfl_sync(ALL_LANES, bits.word, lane));
    return bits.value;
}

// *at = combine(*at, value), whoever else does so.
template <class T, class Combine> __device__ inline void combine_atomically(T *at, T value, Combine combine) {
    typedef typename WordOf<sizeof(T)>::type Word;
    Word *words = reinterpret_cast<Word *>(at);
    Bits<T> before, after;
    before.word = *reinterpret_cast<volatile Word *>(words);
    while (true) {
        after.value = combine(before.value, value);
        if (after.word == before.word) return;
        Word old = atomicCAS(words, before.word, after.word);
        if (old == before.word) return;
        before.word = old;
    }
}

// *at += value, whoever else does so.
template <class T> __device__ inline void add_atomically(T *at, T value) { atomicAdd(at, value); }
#ifndef LANGFORD_HOST
__device__ inline void add_atomically(i64 *at, i64 value) { atomicAdd(reinterpret_cast<u64 *>(at), u64(value)); }
#endif
