// The products of the shifted sum's survivors, and their sum.
//
// A point's factors are bytes: those of the odd forms, with the opposite sign, are ODD_WORDS words, those of the even
// forms EVEN_WORDS.  A byte of each is multiplied; of these numbers three by three in 32 bits; these in two halves
// that nearly always fit 32 bits each.  A point where one does not, or whose key does not fit half bytes, is multiplied
// again, digit by digit.
#include "rows.cuh"

constexpr int LIMBS = 8;
constexpr int WORDS = ODD_WORDS > EVEN_WORDS ? ODD_WORDS : EVEN_WORDS;
static_assert(FORMS + EVENS <= 32, "a product of n factors of 5 bits fits the limbs of 32 bits, weighted");

struct alignas(16) Evens {
    u32 word[EVEN_WORDS];
};

// The even values of a v in half bytes, those of words 2k and 2k + 1 side by side; all ones where one does not fit.
struct alignas(2 * EVEN_WORDS) HalfEvens {
    u32 word[EVEN_WORDS / 2];
};
__device__ inline bool fits(const HalfEvens &half) {
    u32 all = ~0u;
    for (int k = 0; k < EVEN_WORDS / 2; k++) all &= half.word[k];
    return all != ~0u;
}
__device__ inline Evens whole(const HalfEvens &half) {
    Evens even;
    for (int k = 0; k < EVEN_WORDS; k++) even.word[k] = half.word[k / 2] >> (k % 2 * 4) & 0x0F0F0F0F;
    return even;
}

// The bytes that hold a factor of either kind, in turn; from FACTORS on none.
struct Used {
    int byte[4 * WORDS + 3];
    int count;
};
__device__ constexpr Used used_bytes() {
    Used used = {};
    for (int k = 0; k < 4 * WORDS; k++)
        if (k < EVENS || (k < 4 * ODD_WORDS && layout().place[k] >= 0)) used.byte[used.count++] = k;
    for (int k = used.count; k < 4 * WORDS + 3; k++) used.byte[k] = -1;
    return used;
}
// The last two of them are multiplied in at the end, the others three by three.
constexpr int FACTORS = used_bytes().count, LAST = FACTORS > 2 ? FACTORS - 2 : 0, TRIPLES = (LAST + 2) / 3;

template <int K> __device__ inline int signed_byte(u32 word) { return int(word << (24 - 8 * K)) >> 24; }

// Byte K of two words, multiplied; that of the first counted from 128 on.
template <int K> __device__ inline int byte_product(u32 a, u32 b, u32 top_bits) {
#ifdef LANGFORD_HOST
    return signed_byte<K>(a ^ top_bits) * signed_byte<K>(b);
#else
    u32 byte;   // in one instruction
    asm("lop3.b32 %0, %1, %2, %3, 0x28;" : "=r"(byte) : "r"(a), "r"(top_bits), "n"(0xFFu << 8 * K));
    return __dp4a(int(byte), int(b), 0);
#endif
}

template <int I> __device__ inline int factor(const u32 *odd, const u32 *even, u32 top_bits) {
    constexpr int k = used_bytes().byte[I];
    if constexpr (k < 0) return 1;
    else {
        constexpr bool has_odd = k < 4 * ODD_WORDS && layout().place[k < 4 * ODD_WORDS ? k : 0] >= 0, has_even = k < EVENS;
        if constexpr (has_odd && has_even) return byte_product<k % 4>(odd[k / 4], even[k / 4], top_bits);
        else if constexpr (has_odd) return signed_byte<k % 4>(odd[k / 4] ^ top_bits);
        else return signed_byte<k % 4>(even[k / 4]);
    }
}
template <int T> __device__ inline int triple(const u32 *odd, const u32 *even, u32 top_bits) {
    constexpr int first = 3 * T;
    int product = 1;
    if constexpr (first < LAST) product = factor<first>(odd, even, top_bits);
    if constexpr (first + 1 < LAST) product *= factor<first + 1>(odd, even, top_bits);
    if constexpr (first + 2 < LAST) product *= factor<first + 2>(odd, even, top_bits);
    return product;
}

__device__ inline i64 multiply(int a, int b) {
#ifdef LANGFORD_HOST
    return i64(a) * b;
#else
    i64 product;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
    return product;
#endif
}
// 0 if a number fits 32 bits.
__device__ inline int beyond(i64 value) { return split(value).carry; }

// first · triples T, T + 2, …; wide becomes other than 0 when it would not be exact.
template <int T> __device__ inline i64 chain(i64 first, const u32 *odd, const u32 *even, u32 top_bits, int &wide) {
    if constexpr (T >= TRIPLES) return first;
    else {
        wide |= beyond(first);
        return chain<T + 2>(multiply(int(first), triple<T>(odd, even, top_bits)), odd, even, top_bits, wide);
    }
}

// A sum of products, low + high · 2^32.  A product is a number of 62 bits times one of less than 19: MOST_TERMS
// of them stay below 2^63 in both parts.
constexpr int MOST_TERMS = 1 << 13;
struct Sum {
    i64 low, high;
    u32 nonzero;   // products that are not 0
};

// Adds 1 unless a factor is 0.
__device__ inline void count_nonzero(u32 &count, u32 one, u32 two) {
#ifdef LANGFORD_HOST
    count += one && two;
#else
    asm("{\n"
        ".reg .pred p, q;\n"
        "setp.ne.u32 p, %1, 0;\n"
        "setp.ne.and.u32 q, %2, 0, p;\n"
        "@q add.u32 %0, %0, 1;\n"
        "}"
        : "+r"(count) : "r"(one), "r"(two));
#endif
}

__device__ inline void add_product(Sum &sum, i64 half, int rest) {
    const Digits parts = split(half);
    sum.low = add_product(parts.digit, rest, sum.low);
    sum.high = add_product(parts.carry, rest, sum.high);
    count_nonzero(sum.nonzero, u32(half) | u32(half >> 32), rest);
}

// What a warp has added up, in limbs of 32 bits (limbs.py), and the same modulo 2^64 − 1 from additions of its own.
struct Total {
    i64 limbs[LIMBS], residues[LIMBS];
    u64 evaluated;
};

// Spreads carries at once: a limb stays below 2^32 whatever is added.
__device__ inline void add_limb(i64 *limbs, int k, i64 limb, i64 &carry) {
    carry += limbs[k] + limb;
    limbs[k] = k < LIMBS - 1 ? carry & 0xFFFFFFFF : carry;
    carry >>= 32;
}

// Adds the sums of a warp's lanes, weighted.
__device__ NOT_INLINE void settle(Total &total, Sum sum, int weight) {
    const wide value = ((wide)sum.high << 32) + sum.low;
    const wide rest = (wide)(u64)value + (i64)(value >> 64);   // 2^64 ≡ 1
    const i64 evaluated = over_warp(i64(sum.nonzero) * weight);
    i64 carry = 0, residue_carry = 0;
    for (int k = 0; k < LIMBS; k++) {
        // Signed beyond the last digit.
        const i64 limb = over_warp(weight * digit(value, k)), residue = over_warp(weight * digit(rest, k));
        if (threadIdx.x % 32) continue;
        add_limb(total.limbs, k, limb, carry);
        add_limb(total.residues, k, residue, residue_carry);
    }
    if (threadIdx.x % 32 == 0) total.evaluated += evaluated;
}

// A number that is a byte counted from 128 on.
__device__ inline int number_in(u32 word, int k) { return int(word >> 8 * k & 255) - 128; }

// Adds the products of the lanes with `mine`, which need more than 64 bits: digit by digit, weighted.
__device__ NOT_INLINE void add_exactly(Total &total, Bytes odd, Evens even, bool negative, bool mine, int weight) {
    u32 digits[LIMBS] = {1};
    for (int k = 0; k < 4 * WORDS; k++) {
        int both[2] = {1, 1};
        if (k < 4 * ODD_WORDS && in_bytes.place[k] >= 0) both[0] = number_in(odd.word[k / 4], k % 4);
        if (k < EVENS) both[1] = number_in(even.word[k / 4], k % 4);
        const int product = both[0] * both[1];
        negative ^= product < 0;
        u64 carry = 0;
        for (int i = 0; i < LIMBS; i++) {
            carry += (u64)digits[i] * u32(product < 0 ? -product : product);
            digits[i] = carry;
            carry >>= 32;
        }
    }
    u32 any = 0;
    for (int i = 0; i < LIMBS; i++) any |= digits[i];
    const i64 evaluated = over_warp(mine && any ? weight : 0), sign = !mine ? 0 : negative ? -weight : weight;
    i64 carry = 0, residue_carry = 0;
    i64 pairs[2] = {0, 0};
    for (int i = 0; i < LIMBS; i++) {
        const i64 limb = over_warp(sign * digits[i]);
        pairs[i % 2] += limb;
        if (threadIdx.x % 32 == 0) add_limb(total.limbs, i, limb, carry);
    }
    if (threadIdx.x % 32) return;
    for (int i = 0; i < LIMBS; i++) add_limb(total.residues, i, i < 2 ? pairs[i] : 0, residue_carry);
    total.evaluated += evaluated;
}

__device__ inline Evens sum_of(Evens one, const Evens &other) {
    for (int k = 0; k < EVEN_WORDS; k++) one.word[k] += other.word[k];
    return one;
}

// Adds the product of a point, one for each lane, from the bytes as they are in the tables.
// half: the key of v, whose full key is in keys at `number`; top_bits: 0x80808080, in a register.
__device__ inline void add_term(Total &total, Sum &sum, const Bytes &odd_bytes, const HalfEvens &half, const Evens *keys,
                                u32 number, const Evens &of_u, int weight, u32 top_bits) {
    u32 odd[WORDS] = {}, even[WORDS] = {};
    const Evens even_bytes = sum_of(whole(half), of_u);
    for (int k = 0; k < ODD_WORDS; k++) odd[k] = odd_bytes.word[k];
    for (int k = 0; k < EVEN_WORDS; k++) even[k] = even_bytes.word[k] ^ top_bits;
    // Bit 31 says whether the sign is to be changed.
    const u32 turned = COUNTS_BITS ? odd_bytes.word[ODD_WORDS - 1] << 7 : u32(__popc(number)) << 31;
    int rest = 1;
    if constexpr (LAST < FACTORS) rest = factor<LAST>(odd, even, top_bits);
    if constexpr (LAST + 1 < FACTORS) rest *= factor<LAST + 1>(odd, even, top_bits);
    int wide = fits(half) ? 0 : 1;
    const i64 first = multiply(triple<0>(odd, even, top_bits), triple<1>(odd, even, top_bits));
    const i64 second = multiply(triple<2>(odd, even, top_bits), triple<3>(odd, even, top_bits));
    const i64 one = chain<4>(first, odd, even, top_bits, wide), two = chain<5>(second, odd, even, top_bits, wide);
    wide |= beyond(one) | beyond(two);
    const int minus = int(turned) >> 31;
    rest = (rest ^ minus) - minus;
    add_product(sum, multiply(int(one), int(two)), wide ? 0 : rest);
    if (__any_sync(~0u, wide != 0)) {
        const Evens exact = fits(half) ? even_bytes : sum_of(keys[number], of_u);
        add_exactly(total, odd_bytes, exact, turned >> 31, wide != 0, weight);
    }
}
