// Polyphase components and their symmetries (langford/kernels/symmetries.py says what the bits mean).
#include "integers.cuh"

// Element k of the component whose bits are in natural order: +1, −1, or 0 outside.
__device__ inline int sign_at(i64 natural, int k, int length) {
    return k < 0 || k >= length ? 0 : 1 - 2 * int(natural >> k & 1);
}

__device__ inline i64 natural_order(i64 component, int length) {
    i64 natural = 0;
    for (int step = 0; step < length; step++) {
        int element = step & 1 ? length - 1 - step / 2 : step / 2;
        natural |= (component >> (length - 1 - step) & 1) << element;
    }
    return natural;
}

// The component read backwards: neighbouring bits swapped, an odd centre bit kept.
__device__ inline i64 reversed_component(i64 component, int length) {
    const i64 even_bits = 0x2AAAAAAAAAAAAAAAll, centre = length & 1, pairs = component >> centre;
    const i64 swapped = (pairs & even_bits) >> 1 | (pairs & even_bits >> 1) << 1;
    return swapped << centre | (component & centre);
}

// The smallest image and the number of images under reversal and the xor masks given.
struct Orbit {
    i64 smallest;
    int size;
};
__device__ inline Orbit orbit(i64 component, int length, i64 alternation, i64 negation) {
    const i64 backwards = reversed_component(component, length);
    i64 images[8], smallest = component;
    int size = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        images[k] = (k & 1 ? backwards : component) ^ (k & 2 ? alternation : 0) ^ (k & 4 ? negation : 0);
        smallest = images[k] < smallest ? images[k] : smallest;
        bool met = false;
#pragma unroll
        for (int j = 0; j < k; j++) met |= images[j] == images[k];
        size += !met;
    }
    return {smallest, size};
}
