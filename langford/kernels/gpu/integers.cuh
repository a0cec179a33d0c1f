// Whole numbers of every width: words, signed digits, wide sums over a warp, limbs.
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef short i16;
typedef __int128 wide;

// SHARED_MEMORY declares what the blocks of a program's main kernel share, and how large it is.
#ifdef LANGFORD_HOST
#define LAUNCH_BOUNDS(threads, blocks)
#define NOT_INLINE inline
#define SHARED_MEMORY(Type) static Type shared_memory[1]
#else
#define NOT_INLINE __noinline__
#define LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)
#define SHARED_MEMORY(Type)                  \
    extern __shared__ uint4 shared_memory[]; \
    __device__ constexpr int shared_bytes = sizeof(Type)
#endif

// c + a · b; the compiler makes worse code of i64(a) * b.
__device__ inline i64 add_product(int a, int b, i64 c) {
#ifdef LANGFORD_HOST
    return c + i64(a) * b;
#else
    i64 sum;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(sum) : "r"(a), "r"(b), "l"(c));
    return sum;
#endif
}

// value = carry · 2^32 + digit, digit in −2^31 … 2^31 − 1.
struct Digits {
    int digit, carry;
};
__device__ inline Digits split(i64 value) {
    const int digit = int(value);
    return {digit, int(value >> 32) + int(u32(digit) >> 31)};
}

__device__ inline i64 over_warp(i64 value) {
    for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(~0u, value, distance);
    return value;
}

// Digit k of a wide number: 32 bits, the last one signed.
__device__ inline i64 digit(wide value, int k) {
    return k < 0 || k > 3 ? 0 : k < 3 ? i64(value >> 32 * k & 0xFFFFFFFF) : i64(value >> 96);
}
