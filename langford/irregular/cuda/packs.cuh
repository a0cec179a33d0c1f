// Packs: values that stand together, which a thread loads and stores with one instruction of 16 bytes.
//
// Defined by the loader: VALUE.
#include "arrays.cuh"

// Values of a pack.
constexpr int PACK = 16 / sizeof(VALUE);
template <class T> struct alignas(PACK * sizeof(T)) Pack { T entries[PACK]; };

template <class T> __device__ inline bool is_whole(const T *array, i64 first, i64 count) {
    return first + PACK <= count && u64(array + first) % sizeof(Pack<T>) == 0;
}

// entries[k] = array[first + k], and nothing beyond `count`.
template <class T> __device__ inline void load(const T *array, i64 first, i64 count, T (&entries)[PACK]) {
    if (is_whole(array, first, count)) {
        const Pack<T> pack = *reinterpret_cast<const Pack<T> *>(array + first);
#pragma unroll
        for (int k = 0; k < PACK; k++) entries[k] = pack.entries[k];
    } else {
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            if (first + k < count) entries[k] = array[first + k];
        }
    }
}

template <class T> __device__ inline void store(T *array, i64 first, i64 count, const T (&entries)[PACK]) {
    if (is_whole(array, first, count)) {
        Pack<T> pack;
#pragma unroll
        for (int k = 0; k < PACK; k++) pack.entries[k] = entries[k];
        *reinterpret_cast<Pack<T> *>(array + first) = pack;
    } else {
#pragma unroll
        for (int k = 0; k < PACK; k++) {
            if (first + k < count) array[first + k] = entries[k];
        }
    }
}
