// The operators of accumulations over values of one type.
//
// Defined by the loader: VALUE.  Operators: 0 add, 1 multiply, 2 minimum, 3 maximum, 4 exclusive or.
#include "arrays.cuh"

// Floats have no exclusive or; nobody asks for it.
template <class T> __device__ inline T exclusive_or(T value, T other) { return value ^ other; }
__device__ inline float exclusive_or(float value, float) { return value; }
__device__ inline double exclusive_or(double value, double) { return value; }

__device__ inline VALUE combined(int op, VALUE value, VALUE other) {
    switch (op) {
        case 0: return value + other;
        case 1: return value * other;
        case 2: return value < other ? value : other;
        case 3: return value > other ? value : other;
        default: return exclusive_or(value, other);
    }
}

__device__ inline void combine_at(int op, VALUE *at, VALUE value) {
    if (op == 0) add_atomically(at, value);
    else combine_atomically(at, value, [op](VALUE before, VALUE other) { return combined(op, before, other); });
}

// Operators that can be undone: addition of all numbers, besides it exclusive or of integers, and
// multiplication of floats.
struct Addition {
    static __device__ inline VALUE neutral() { return 0; }
    static __device__ inline VALUE of(VALUE one, VALUE other) { return one + other; }
    static __device__ inline VALUE inverse(VALUE value) { return VALUE(0) - value; }
    static __device__ inline VALUE without(VALUE whole, VALUE part) { return whole - part; }
};
template <class T> struct SecondOf {
    static __device__ inline T neutral() { return 0; }
    static __device__ inline T of(T one, T other) { return one ^ other; }
    static __device__ inline T inverse(T value) { return value; }
    static __device__ inline T without(T whole, T part) { return whole ^ part; }
};
template <class T> struct Products {
    static __device__ inline T neutral() { return 1; }
    static __device__ inline T of(T one, T other) { return one * other; }
    static __device__ inline T inverse(T value) { return 1 / value; }
    static __device__ inline T without(T whole, T part) { return whole / part; }
};
template <> struct SecondOf<float> : Products<float> {};
template <> struct SecondOf<double> : Products<double> {};
typedef SecondOf<VALUE> Second;
