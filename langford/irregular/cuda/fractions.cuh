// Ratios with positive denominators: of whole numbers exact, of floats rounded.
#include "arrays.cuh"

// Whether a / b < c / d.
__device__ inline bool less(i64 a, i64 b, i64 c, i64 d) { return __int128(a) * d < __int128(c) * b; }
__device__ inline bool less(double a, double b, double c, double d) { return a / b < c / d; }

// In lowest terms; of floats the quotient, over 1.
__device__ inline void reduce(i64 &numerator, i64 &denominator) {
    u64 a = numerator < 0 ? 0 - u64(numerator) : u64(numerator), b = denominator;
    while (b) {
        const u64 rest = a % b;
        a = b;
        b = rest;
    }
    numerator /= i64(a);
    denominator /= i64(a);
}
__device__ inline void reduce(double &numerator, double &denominator) {
    numerator /= denominator;
    denominator = 1;
}
