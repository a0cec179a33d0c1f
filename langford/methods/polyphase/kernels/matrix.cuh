// The product of ±1 rows and the forms' matrix on tensor cores: by warpgroups on Hopper (sm_90a), by
// warps from Ampere on, without tensor cores before, emulated on the host.  WITHOUT_WARPGROUPS and
// WITHOUT_TENSOR_CORES ask for a slower way.
//
// A row is the signs of a v, a form a column of eight images with elements −2 … 2.  Warpgroups multiply
// numbers of 8 bits (e4m3) into floats, which they add exactly as far as this goes, because floats leave the
// integer multiplier alone; the others multiply signed bytes into integers.
#include "integers.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(WITHOUT_WARPGROUPS) && !defined(WITHOUT_TENSOR_CORES)
#define WARPGROUPS
#endif

#if defined(WARPGROUPS) || defined(LANGFORD_HOST) && !defined(WITHOUT_WARPGROUPS)
typedef float Entry;
constexpr u32 ONES = 0x38383838;   // 1.0 four times

__device__ inline u32 element(int value) {
    return (value & 1 ? 0x38 : value ? 0x40 : 0) | (value < 0 ? 0x80 : 0);
}

// What makes ONES the signs of bits t, t + 8, t + 16 and t + 24 of v (t < 8).
__device__ inline u32 flips(u32 v, int t) { return v << (7 - t) & 0x80808080; }

// Of a whole number below 2^22.
__device__ inline int whole(float number) {
    const float aligned = number + 12582912.0f;   // 1.5 · 2^23: the units in bit 0
    return __float_as_int(aligned) - 0x4B400000;
}
#else
typedef int Entry;
constexpr u32 ONES = 0x01010101;

__device__ inline u32 element(int value) { return value & 0xFF; }

__device__ inline u32 flips(u32 v, int t) { return (v >> t & 0x01010101) * 0xFE; }

__device__ inline int whole(int number) { return number; }
#endif

// What a thread gets of eight forms for 16 pairs of its warp, [form][k] as multiply() spreads them.
typedef Entry Sums[8][4];
constexpr int TILES = (FORMS + 7) / 8;
// A form's matrix, 64 words: word 32 · half + 4 · image + t holds elements 16 · half + 4t … + 3.
constexpr int MATRIX = 8 * TILES * 64;

// Of the v's in the rows of a thread: elements 4t … 4t + 3 and 16 + 4t … of rows g and g + 8.
struct Rows {
    u32 a0, a1, a2, a3;
};

#ifdef WARPGROUPS
#define REGISTERS(k) "=f"(sums[k][0]), "=f"(sums[k][1]), "=f"(sums[k][2]), "=f"(sums[k][3])

// What the instruction has to know about the matrix in shared memory: 8 images of 16 bytes lie
// together, the next 16 elements 128 bytes on, the next form 256.
__device__ inline u64 describe(const u32 *forms) {
    return 128ull >> 4 << 16 | 256ull >> 4 << 32 | __cvta_generic_to_shared(forms) >> 4;
}

// Lets the tensor cores see what this thread wrote of the matrix.
__device__ inline void publish_matrix() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Starts the product of the rows of four warps and of eight forms.
__device__ inline void begin(Sums &sums, Rows rows, int tile, const u32 *, u64 matrix) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{ .reg .pred add; setp.ne.b32 add, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, add, 1, 1; }"
                 : REGISTERS(0), REGISTERS(1), REGISTERS(2), REGISTERS(3), REGISTERS(4), REGISTERS(5),
                   REGISTERS(6), REGISTERS(7)
                 : "r"(rows.a0), "r"(rows.a1), "r"(rows.a2), "r"(rows.a3), "l"(matrix + tile * (2048 >> 4)));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until the product is there.
__device__ inline void finish(Sums &sums) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 32; k++) asm volatile("" : "+f"(sums[k / 4][k % 4]) :: "memory");
}
#else

// c = A · B for a row-major 16 × 32 and a column-major 32 × 8 matrix of bytes: thread
// 4g + t holds elements 4t … 4t+3 (a0, b0) and 16+4t … (a2, b1) of rows g, of rows g + 8 (a1,
// a3) and of columns g, and gets rows g (c0, c1) and g + 8 (c2, c3) of columns 2t, 2t + 1.
__device__ inline void multiply(Entry (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
#if defined(LANGFORD_HOST)
    multiply_on_host(c, a0, a1, a2, a3, b0, b1);
#elif __CUDA_ARCH__ >= 800 && !defined(WITHOUT_TENSOR_CORES)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(0));
#else
    const int lane = threadIdx.x % 32, row = lane & ~3, column = lane % 4 * 8;
    c[0] = c[1] = c[2] = c[3] = 0;
    for (int t = 0; t < 4; t++) {
        const u32 low[2] = {__shfl_sync(~0u, a0, row + t), __shfl_sync(~0u, a1, row + t)};
        const u32 high[2] = {__shfl_sync(~0u, a2, row + t), __shfl_sync(~0u, a3, row + t)};
        for (int k = 0; k < 2; k++) {
            const u32 first = __shfl_sync(~0u, b0, column + 4 * k + t);
            const u32 second = __shfl_sync(~0u, b1, column + 4 * k + t);
            for (int j = 0; j < 2; j++) {
                c[2 * j + k] = __dp4a(int(low[j]), int(first), c[2 * j + k]);
                c[2 * j + k] = __dp4a(int(high[j]), int(second), c[2 * j + k]);
            }
        }
    }
#endif
}

__device__ inline u64 describe(const u32 *) { return 0; }

__device__ inline void publish_matrix() {}

__device__ inline void begin(Sums &sums, Rows rows, int tile, const u32 *forms, u64) {
#pragma unroll
    for (int k = 0; k < 8 && 8 * tile + k < FORMS; k++) {
        const u32 *own = forms + 64 * (8 * tile + k) + threadIdx.x % 32;
        multiply(sums[k], rows.a0, rows.a1, rows.a2, rows.a3, own[0], own[32]);
    }
}

__device__ inline void finish(Sums &) {}
#endif
