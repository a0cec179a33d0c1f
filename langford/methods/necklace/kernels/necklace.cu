// The sum over binary necklaces on the GPU: rows on a circle, their words in stages, with a queue before each.
//
// A word has the m places of the circle as bits.  The last FREE places are those of words, the five before them
// those of lanes, the two before these those of heads.  Warps take beginnings, the words of a task with 0 in all of
// these, and pass those over that cannot represent a necklace.  Each lane of a warp takes one value of the places of
// lanes, and with it the four heads and the words of each.
//
// For a difference d ≥ FREE no two places of words, or of lanes, are d apart.  So e_d − D_d/2 of a head is a row of
// the beginning, changed by the places of the lane whose two neighbours at this distance are alike: one population
// count.  A table in shared memory has the set of words whose factor is then 0, by the row and by the neighbours of
// the places of words.  The words that remain are tested for the other differences, and the terms of those that
// pass are computed.
//
// Floor: of 8,192 words of a warp and a difference, some 16 instructions, of which a multiprocessor starts four a
// cycle, and four loads of 8 bytes a lane; where few words remain, shared memory is busy in 85% of the cycles.
//
// Defined by the loader: PLACES (m), HOLES (h), TARGETS (e_d by d, or NONE), TERM_WORDS of 64 bits; THREADS.

#include "integers.cuh"

// The table for six places of words takes 143 KiB of shared memory, that for five 22 KiB: six where a block may
// have 227 KiB, five where it may have 99 KiB or more, and on the host, where tests define six as well.
#ifndef FREE
#if __CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200
#define FREE 6
#else
#define FREE 5
#endif
#endif

constexpr int WARPS = THREADS / 32, HALF = PLACES / 2;
constexpr int QUEUE = 63;   // fewer than 32 wait when 32 more arrive
constexpr int LANE_PLACES = 5, HEAD_PLACES = 2, HEADS = 1 << HEAD_PLACES;
constexpr int STEPS = HALF < FREE ? 0 : HALF - FREE + 1;   // differences from FREE on
constexpr u32 LAST = (1 << FREE) - 1, LANES = 31;
constexpr u64 full = ~0ull >> (64 - PLACES);

__device__ constexpr int targets[HALF + 1] = {TARGETS};

// A set of words of a head: bit k is that with k in the last places.
template <int PLACES_OF_WORDS> struct SetOf { typedef u64 Type; };
template <> struct SetOf<5> { typedef u32 Type; };
typedef SetOf<FREE>::Type Set;

// The table: a class for each choice of how many of the two neighbours of each place of words have 1, and in it
// rows, of which those in the middle can have a word.
constexpr int CLASSES = FREE == 6 ? 729 : 243, NEAR = FREE + LANE_PLACES, STRIDE = 2 * NEAR + 3;
constexpr int ROWS = CLASSES * STRIDE + NEAR + 1, ENTRY = sizeof(Set);

// Where the table is looked at for each head.
struct alignas(16) At {
    u32 of[HEADS];
};
// By the difference: this of a beginning, and the neighbours of the places of lanes, by which it changes.
struct Steps {
    At at[STEPS + 1];
    u32 lanes[(STEPS + 4) & ~3];
};

// The words that remain of two heads.
struct Left {
    u64 head;
    Set sets[2];
};

// A word and the product of its factors for the differences below FREE.
struct Term {
    u64 word;
    int product;
};

struct Shared {
    Steps steps[WARPS];
    Set vanishing[ROWS];
    u32 class_of[1 << FREE];   // of neighbours on one side, in bytes; those of both sides add up
    Left left[WARPS][QUEUE];
    Term terms[WARPS][QUEUE];
};

static_assert(sizeof(Shared) <= (FREE == 6 ? 227 : 99) * 1024, "too many threads for the shared memory of a block");
SHARED_MEMORY(Shared);

// A word, twice in a row.
struct Doubled {
    u32 part[5];

    __device__ explicit Doubled(u64 word) {
        const u64 low = word | (PLACES < 64 ? word << PLACES % 64 : 0), high = word >> (64 - PLACES);
        part[0] = low, part[1] = low >> 32, part[2] = high, part[3] = high >> 32, part[4] = 0;
    }
    // 32 bits, from place k on.
    __device__ u32 from(int k) const { return __funnelshift_r(part[k / 32], part[k / 32 + 1], k % 32); }
    // D_d/2: the places with 1 that have 0 d places on.
    __device__ int differing(int d) const {
        return __popc(~from(d) & part[0] & u32(full)) + __popc(~from(d + 32) & part[1] & u32(full >> 32));
    }
};

// Bit k is set where place k has another sign than place k − 1.
__device__ inline u64 changes_of(u64 word) { return word ^ (word << 1 | word >> (PLACES - 1)) & full; }

// The places from which on there are `length` zeros; `zeros` has a 1 for each.
__device__ inline u64 runs_of(u64 zeros, int length) {
    int found = 1;
    for (; 2 * found <= length; found *= 2) zeros &= zeros >> found;
    return zeros & zeros >> (length - found);
}

// The last place of the first gap.
__device__ inline u64 first_of(int gap) { return 1ull << (PLACES - 1 - gap); }

// Whether a word can represent its necklace, as far as all but the last ``unknown`` changes show it.
__device__ inline bool can_be_first(u64 word, int gap, int unknown) {
    const u64 changes = changes_of(word) >> unknown << unknown, zeros = ~(changes | (1 << unknown) - 1) & full;
    const u64 runs = runs_of(zeros, gap);
    if (runs & zeros >> gap) return false;
    for (u64 gaps = runs & ~first_of(gap); gaps; gaps &= gaps - 1) {
        const int begin = __ffsll(gaps) - 1 + gap;
        const u64 other = (changes & (2ull << begin) - 1) >> unknown;
        if (other < changes >> (PLACES - 1 - begin + unknown)) return false;
    }
    return true;
}

// How many different rotations the changes of a word have; 0 if it does not represent its necklace.
__device__ inline int rotations_of(u64 word, int gap) {
    const u64 changes = changes_of(word), zeros = ~changes & full, runs = runs_of(zeros, gap);
    if (runs & zeros >> gap) return 0;
    int rotations = PLACES;
    for (u64 gaps = runs & ~first_of(gap); gaps; gaps &= gaps - 1) {
        const int begin = __ffsll(gaps) - 1 + gap;
        const u64 other = (changes << (PLACES - 1 - begin) | changes >> (begin + 1)) & full;
        if (other < changes) return 0;
        if (other == changes) rotations = PLACES - 1 - begin;   // the last one is the least
    }
    return rotations;
}

// Fills the table.  A 1 in a place of words changes e_d − D_d/2 by the number of its neighbours with 1, less 1; a
// class has these numbers as its digits, base 3.
__device__ inline void fill(Shared &shared) {
    for (int k = threadIdx.x; k < 1 << FREE; k += THREADS) {
        int number = 0;
        for (int j = FREE - 1; j >= 0; j--) number = 3 * number + (k >> j & 1);
        shared.class_of[k] = number * (STRIDE * ENTRY);
    }
    for (int k = threadIdx.x; k < ROWS; k += THREADS) shared.vanishing[k] = 0;
    __syncthreads();
    for (int k = threadIdx.x; k < CLASSES; k += THREADS) {
        u32 smaller = 0, larger = 0;
        for (int j = 0, rest = k; j < FREE; j++, rest /= 3) {
            smaller |= (rest % 3 == 0) << j;
            larger |= (rest % 3 == 2) << j;
        }
        Set *row_of_0 = shared.vanishing + k * STRIDE + NEAR + LANE_PLACES;
        for (int word = 0; word < 1 << FREE; word++)
            row_of_0[__popc(word & smaller) - __popc(word & larger)] |= Set(1) << word;
    }
    __syncthreads();
}

// Fills in what the words of a beginning have in common.  Each lane does so for one difference, d.
//   change: of the place in the table, by each place of heads with 1.
__device__ inline void
prepare(u64 word, int d, int target, const u32 (&change)[HEAD_PLACES], const Shared &shared, Steps &steps) {
    const u64 behind = (word >> d | word << (PLACES - d)) & full, before = word >> (PLACES - d);
    const int row = target - __popcll(word & ~behind) + NEAR;
    const u32 ones = u32((behind & before) >> FREE), zeros = u32(~(behind | before) >> FREE);
    const u32 place = shared.class_of[behind & LAST] + shared.class_of[before & LAST];
    At at;
#pragma unroll
    for (int j = 0; j < HEADS; j++) {
        int own = row;   // less D_d/2 of the places of the head
        u32 first = place;
#pragma unroll
        for (int k = 0; k < HEAD_PLACES; k++) {
            if (!(j >> k & 1)) continue;
            own += int(ones >> (LANE_PLACES + k) & 1) - int(zeros >> (LANE_PLACES + k) & 1);
            first += change[k];
        }
        at.of[j] = first + ENTRY * (u32(own) < 2 * NEAR + 1 ? own : 2 * NEAR + 1);   // farther: nothing vanishes
    }
    const int lane = threadIdx.x % 32;
    if (lane < STEPS) {
        steps.at[lane] = at;
        steps.lanes[lane] = ones & LANES | (zeros & LANES) << LANE_PLACES;
    }
}

// Of the words of each head of a lane, those that have a factor of 0 for the differences from FREE on.
//   own: change of the place in the table, where the places of the lane are neighbours of those of words.
__device__ inline void
find_dead(const Steps &steps, const Set *vanishing, const u32 (&own)[STEPS + 1], Set (&dead)[HEADS]) {
    const u32 lane = threadIdx.x % 32, twice = lane * 33;
#pragma unroll
    for (int j = 0; j < HEADS; j++) dead[j] = 0;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const At at = steps.at[k];
        const int d = FREE + k;
        // Five, more by the places with 1 between two of 1, and less by those between two of 0
        u32 mine = ENTRY * __popc((twice & steps.lanes[k]) ^ LANES << LANE_PLACES);
        if (d < FREE + LANE_PLACES || PLACES - d < FREE + LANE_PLACES) mine += own[k];
#pragma unroll
        for (int j = 0; j < HEADS; j++) {
            // Places of the head and of the lane that are d apart
            u32 pairs = 0;
#pragma unroll
            for (int place = 0; place < HEAD_PLACES; place++) {
                const int other = LANE_PLACES + place - d;
                if (other >= 0 && j >> place & 1) pairs += lane >> other & 1;
            }
            dead[j] |= *(const Set *)((const char *)vanishing + (at.of[j] + mine + ENTRY * pairs));
        }
    }
}

// Sums of terms in limbs whose carries wait (limbs.py), and the same modulo 2^64 − 1 by additions of their own:
// low + high · 2^32.
struct Total {
    i64 limbs[2 * TERM_WORDS], low, high;
    u64 found;
};

// The product of the factors from FIRST to LAST, at most seven; each is at most 17.
template <int FIRST, int LAST> __device__ inline int product_of(const Doubled &word) {
    int product = 1;
#pragma unroll
    for (int d = FIRST; d <= LAST && d <= HALF; d++)
        if (targets[d] != NONE) product *= targets[d] - word.differing(d);
    return product;
}

// W of a word with so many signs of −1.
__device__ inline int sum_of_signs(int ones) { return PLACES % 2 ? PLACES - 2 * ones : HALF - ones; }

// Adds the term of a word.
__device__ inline void add_term(const Term &term, int gap, Total &total) {
    const int rotations = rotations_of(term.word, gap);
    if (!rotations) return;
    const Doubled word(term.word);
    const int ones = __popcll(term.word);
    if (HOLES > 1 && !sum_of_signs(ones)) return;
    const int product[5] = {
        product_of<FREE, FREE + 6>(word),
        product_of<FREE + 7, FREE + 13>(word),
        product_of<FREE + 14, FREE + 20>(word),
        product_of<FREE + 21, 32>(word) * (HOLES % 2 ? sum_of_signs(ones) : 1),
        term.product * rotations,
    };
    const bool minus = ones & 1 ^ u32(product[0] ^ product[1] ^ product[2] ^ product[3] ^ product[4]) >> 31;
    u32 sizes[5];
#pragma unroll
    for (int p = 0; p < 5; p++) sizes[p] = abs(product[p]);
    u64 factors[3] = {u64(sizes[0]) * sizes[1], u64(sizes[2]) * sizes[3], sizes[4]};
#pragma unroll
    for (int h = 1; h < HOLES; h += 2) factors[2] *= u32(sum_of_signs(ones) * sum_of_signs(ones));   // below 2^57
    total.found++;
    u64 words[TERM_WORDS] = {factors[0]};
#pragma unroll
    for (int p = 1; p < 3; p++) {
        u64 carry = 0;
#pragma unroll
        for (int k = 0; k < TERM_WORDS; k++) {
            const unsigned __int128 product = (unsigned __int128)words[k] * factors[p] + carry;
            words[k] = product;
            carry = product >> 64;
        }
    }
    u64 carry = minus;
#pragma unroll
    for (int k = 0; k < TERM_WORDS; k++) {
        const unsigned __int128 turned = (unsigned __int128)(words[k] ^ -u64(minus)) + carry;
        carry = turned >> 64;
        const i64 low = u32(turned), high = k < TERM_WORDS - 1 ? i64(u64(turned) >> 32) : i64(turned) >> 32;
        total.limbs[2 * k] += low;
        total.limbs[2 * k + 1] += high;
        total.low += low;
        total.high += high;
    }
}

// A queue of a warp.
template <class Item> struct Queue {
    Item *items;
    int waiting;

    // Puts the items of some lanes into it, which has less than 32.
    __device__ void put(bool real, const Item &item) {
        const u32 all = __ballot_sync(~0u, real);
        if (real) items[waiting + __popc(all & ((1u << threadIdx.x % 32) - 1))] = item;
        waiting += __popc(all);
        __syncwarp();
    }
    // Takes 32 items out, or as many as there are; whether there is one for this lane.
    __device__ bool take(Item &item) {
        const int lane = threadIdx.x % 32, taken = waiting < 32 ? waiting : 32;
        waiting -= taken;
        if (lane < taken) item = items[waiting + lane];
        __syncwarp();
        return lane < taken;
    }
};

// Takes a word out of those that remain of two heads.
__device__ inline u64 next_of(Left &left) {
    const bool second = !left.sets[0];
    const Set set = second ? left.sets[1] : left.sets[0];
    const u32 high = u64(set) >> 32, low = set, some = high ? high : low;
    const int bit = 31 - __clz(some);
    const u32 without = some ^ 1u << bit;
    const Set rest = high ? u64(without) << 32 | low : without;
    left.sets[0] = second ? 0 : rest;
    left.sets[1] = second ? rest : left.sets[1];
    return left.head | u32(bit + (high ? 32 : 0)) | u32(second) << (FREE + LANE_PLACES);
}

// Adds the terms of all words of a task to limbs and residues.
//   start: the prefix; free: places behind it; found: the number of terms, and how often beginnings were dealt.
extern "C" __global__ void LAUNCH_BOUNDS(THREADS, 1)
necklace(i64 start, int free, int gap, i64 *limbs, i64 *residues, u64 *found) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_memory);
    fill(shared);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Queue<Left> words = {shared.left[warp], 0};
    Queue<Term> terms = {shared.terms[warp], 0};
    Total total = {};
    const int spread = free - FREE < LANE_PLACES + HEAD_PLACES ? free - FREE : LANE_PLACES + HEAD_PLACES;
    const bool part = lane < 1 << spread;
    const int heads = spread <= LANE_PLACES ? 1 : 1 << (spread - LANE_PLACES);
    const int d = FREE + lane < HALF ? FREE + lane : HALF, target = targets[d];
    const u32 mine = part ? lane : 0;   // in a task of few places, those of other lanes are fixed
    u32 change[HEAD_PLACES];
#pragma unroll
    for (int k = 0; k < HEAD_PLACES; k++) {
        const u64 place = heads > 1 << k ? 1ull << (FREE + LANE_PLACES + k) : 0;
        change[k] = shared.class_of[place >> d & LAST] + shared.class_of[place >> (PLACES - d) & LAST];
    }
    u32 own[STEPS + 1];
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const u64 places = u64(mine) << FREE;
        const int d = FREE + k;
        own[k] = shared.class_of[places >> d & LAST] + shared.class_of[places >> (PLACES - d) & LAST];
    }
    const i64 beginnings = 1ll << (free - FREE - spread);
    // Beginnings are dealt, as many at once as leaves each warp some turns.  (By a stride, a warp would have the
    // same places again and again, and some warps more terms than others.)
    int dealt = 32;
    while (dealt > 4 && beginnings < 16 * dealt * i64(gridDim.x) * WARPS) dealt /= 2;
    i64 first = 0;
    u32 passing = 0;      // the beginnings from `first` on that are to come
    for (bool more = true; more;) {
        while (more && !passing) {
            const i64 turn = lane == 0 ? (i64)atomicAdd(found + 1, 1ull) : 0;
            first = dealt * i64(__shfl_sync(~0u, turn, 0));
            more = first < beginnings;
            const u64 next = u64(start) | u64(first + lane) << (FREE + spread);
            const bool real = lane < dealt && first + lane < beginnings;
            passing = __ballot_sync(~0u, real && can_be_first(next, gap, FREE + spread + 1));
        }
        // After the last beginning, the queues are emptied.
        Set dead[HEADS] = {Set(-1), Set(-1), Set(-1), Set(-1)};
        u64 taken = 0;
        if (more) {
            const u64 beginning = u64(start) | u64(first + __ffsll(passing) - 1) << (FREE + spread);
            passing &= passing - 1;
            prepare(beginning, d, target, change, shared, shared.steps[warp]);
            __syncwarp();
            find_dead(shared.steps[warp], shared.vanishing, own, dead);
            taken = beginning | u64(lane) << FREE;
            __syncwarp();
        }
#pragma unroll 1
        for (int j = 0; j < heads; j += 2) {
            Left left = {taken | u64(j) << (FREE + LANE_PLACES), {part ? ~dead[0] : 0, heads > 1 ? ~dead[1] : 0}};
            dead[0] = dead[2], dead[1] = dead[3];
            words.put(left.sets[0] | left.sets[1], left);
            while (words.waiting >= 32 || (!more && words.waiting + terms.waiting)) {
                const bool real = words.take(left);
                Term term = {};
                if (real) {
                    term.word = next_of(left);
                    term.product = product_of<1, FREE - 1>(Doubled(term.word));
                }
                words.put(real && (left.sets[0] | left.sets[1]), left);
                terms.put(term.product, term);
                const bool enough = terms.waiting >= 32 || (!more && !words.waiting);
                if (enough && terms.take(term)) add_term(term, gap, total);
            }
        }
    }
    __syncwarp();
    // Carries are spread where a limb is added up over the warp.
    i64 carry = 0;
#pragma unroll
    for (int k = 0; k < 2 * TERM_WORDS; k++) {
        carry += over_warp(total.limbs[k]);
        if (lane == 0) atomicAdd((u64 *)limbs + k, (u64)(k < 2 * TERM_WORDS - 1 ? carry & 0xFFFFFFFF : carry));
        carry >>= 32;
    }
    const i64 low = over_warp(total.low), high = over_warp(total.high), count = over_warp(total.found);
    if (lane == 0) {
        // low + high · 2^32 in three digits
        const i64 middle = (low >> 32) + high;
        atomicAdd((u64 *)residues, (u64)(low & 0xFFFFFFFF));
        atomicAdd((u64 *)residues + 1, (u64)(middle & 0xFFFFFFFF));
        atomicAdd((u64 *)residues + 2, (u64)(middle >> 32));
        atomicAdd(found, (u64)count);
    }
}
