// Shared memory by 32-bit addresses: the compiler then keeps them in registers, and need not know what they are
// multiples of.
#include "integers.cuh"

#ifdef LANGFORD_HOST
static char *shared_base;   // addresses count from here
#endif

// 64 and 128 bits.
struct alignas(8) Pair {
    u32 word[2];
};
struct alignas(16) Bits {
    u32 word[4];
};

// An address, opaque: it is not computed again.
__device__ inline u32 shared_address(const void *place) {
#ifdef LANGFORD_HOST
    return u32(static_cast<const char *>(place) - shared_base);
#else
    u32 address;
    asm volatile("mov.u32 %0, %1;" : "=r"(address) : "r"(u32(__cvta_generic_to_shared(place))));
    return address;
#endif
}

template <int OFFSET> __device__ inline Bits load_bits(u32 address) {
    Bits bits;
#ifdef LANGFORD_HOST
    bits = *reinterpret_cast<const Bits *>(shared_base + address + OFFSET);
#else
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(bits.word[0]), "=r"(bits.word[1]), "=r"(bits.word[2]), "=r"(bits.word[3])
                 : "r"(address), "n"(OFFSET));
#endif
    return bits;
}
template <int OFFSET> __device__ inline Pair load_pair(u32 address) {
    Pair pair;
#ifdef LANGFORD_HOST
    pair = *reinterpret_cast<const Pair *>(shared_base + address + OFFSET);
#else
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2 + %3];"
                 : "=r"(pair.word[0]), "=r"(pair.word[1]) : "r"(address), "n"(OFFSET));
#endif
    return pair;
}
template <int OFFSET> __device__ inline u32 load_word(u32 address) {
    u32 word;
#ifdef LANGFORD_HOST
    word = *reinterpret_cast<const u32 *>(shared_base + address + OFFSET);
#else
    asm volatile("ld.shared.u32 %0, [%1 + %2];" : "=r"(word) : "r"(address), "n"(OFFSET));
#endif
    return word;
}
template <int OFFSET> __device__ inline void store_bits(u32 address, const Bits &bits) {
#ifdef LANGFORD_HOST
    *reinterpret_cast<Bits *>(shared_base + address + OFFSET) = bits;
#else
    asm volatile("st.shared.v4.u32 [%0 + %1], {%2, %3, %4, %5};"
                 :: "r"(address), "n"(OFFSET), "r"(bits.word[0]), "r"(bits.word[1]), "r"(bits.word[2]), "r"(bits.word[3])
                 : "memory");
#endif
}
template <int OFFSET> __device__ inline void store_word(u32 address, u32 word) {
#ifdef LANGFORD_HOST
    *reinterpret_cast<u32 *>(shared_base + address + OFFSET) = word;
#else
    asm volatile("st.shared.u32 [%0 + %1], %2;" :: "r"(address), "n"(OFFSET), "r"(word) : "memory");
#endif
}

// Stores bits and a word where `all_ones` has a bit of 0.  (For two stores the compiler would make a branch.)
template <int OFFSET>
__device__ inline void store_unless(u32 all_ones, u32 bits_at, const Bits &bits, u32 word_at, u32 word) {
#ifdef LANGFORD_HOST
    if (~all_ones) {
        store_bits<0>(bits_at, bits);
        store_word<OFFSET>(word_at, word);
    }
#else
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.u32 p, %0, 0xFFFFFFFF;\n"
                 "@p st.shared.v4.u32 [%1], {%2, %3, %4, %5};\n"
                 "@p st.shared.u32 [%6 + %7], %8;\n"
                 "}"
                 :: "r"(all_ones), "r"(bits_at), "r"(bits.word[0]), "r"(bits.word[1]), "r"(bits.word[2]), "r"(bits.word[3]),
                    "r"(word_at), "n"(OFFSET), "r"(word)
                 : "memory");
#endif
}

// Adds 1 to a word and returns what it was.  (Of an addition, and of a count without an end, the compiler would make
// one for the whole warp.)
__device__ inline u32 count_up(u32 address) {
#ifdef LANGFORD_HOST
    return (*reinterpret_cast<u32 *>(shared_base + address))++;
#else
    u32 before;
    asm volatile("atom.shared.inc.u32 %0, [%1], 0x7FFFFFFF;" : "=r"(before) : "r"(address) : "memory");
    return before;
#endif
}

// A number, opaque as well.
__device__ inline u32 kept(u32 number) {
#ifndef LANGFORD_HOST
    asm volatile("mov.u32 %0, %0;" : "+r"(number));
#endif
    return number;
}

// Bits of global memory that are read once: they take no place in the first-level cache.
__device__ inline Bits read_once(const Bits *place) {
    Bits bits;
#ifdef LANGFORD_HOST
    bits = *place;
#else
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.word[0]), "=r"(bits.word[1]), "=r"(bits.word[2]), "=r"(bits.word[3]) : "l"(place));
#endif
    return bits;
}
