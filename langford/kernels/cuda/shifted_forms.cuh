// The forms of the shifted sum (docs/shifted.md), the u's of a task and the even tables of a tile of v's.
//
// A component in natural order has bit k set where element k is −1.  Packed bits are those of
// langford/methods/shifted/components.py: the outer elements on top, the inner ones lowest.
#pragma once

#include "integers.cuh"

constexpr int INNER_BITS = 8;   // of a v; 2^8 v's are a row
constexpr int LOW_BITS = 5;     // the next ones; a warp takes 2^5 rows at a time
constexpr int TILE = 1 << TILE_BITS, ROWS = TILE >> INNER_BITS;
constexpr int MOST_ELEMENTS = 62, MOST_FORMS = FORMS > EVENS ? FORMS : EVENS;
constexpr int VALUES = 2 * REACH + 1;   // of half an even form
constexpr int SORT_BITS = 5, SORTED_FORMS = 12;
enum { LAG, LEFT, RIGHT, NEGATIVE, U_ONCE, U_NEGATIVE, CONSTANT, ODD_FIELDS };
enum { HALF_LAG, TERMS, ONCE, OPPOSITE, MOST, EVEN_FIELDS };

// What the loader fills in: see OddForms and HalfForm in langford/methods/shifted; the element at each packed
// bit, and the first plus the last element, of u and of v.
__constant__ i64 odd_forms[FORMS][ODD_FIELDS];
__constant__ i64 even_forms[EVENS ? EVENS : 1][2][EVEN_FIELDS];
__constant__ i64 elements[2][MOST_ELEMENTS + 2];
__constant__ i64 ends[2];

enum { U, V };

__device__ inline i64 natural_order(i64 packed, int component) {
    i64 mask = 0;
    for (int k = 0; packed; k++, packed >>= 1) mask |= (packed & 1) << elements[component][k];
    return mask;
}

// The component read backwards; only where it has no gaps.
__device__ inline i64 backwards(i64 mask, int component) { return i64(__brevll(mask) >> (63 - ends[component])); }

// f / 4 of even form i, as far as one component decides it.
__device__ inline int half_even(i64 mask, int i, int component) {
    const i64 *form = even_forms[i][component];
    const i64 differing = (mask ^ mask >> form[HALF_LAG]) & form[TERMS], opposite = (mask ^ form[OPPOSITE]) & form[ONCE];
    return int(form[MOST]) - 2 * (__popcll(differing) + __popcll(opposite)) >> 2;
}

// An odd form at one u, linear in v: the elements of v that add 1 to f / 4 where they are −1, those that take 1
// away, and f / 4 where no element of v is −1.
struct Linear {
    i64 plus, minus;
    int start;
};
__device__ inline Linear linear_form(i64 u, int f) {
    const i64 *form = odd_forms[f];
    const i64 left = form[LEFT], right = form[RIGHT], negative = form[NEGATIVE];
    const i64 before = u << form[LAG] & left | negative & ~left, after = u >> (form[LAG] + 1) & right | negative & ~right;
    const i64 plus = before & after, minus = (left | right) & ~(before | after);
    const int once = __popcll(form[U_ONCE]) - 2 * __popcll((u ^ form[U_NEGATIVE]) & form[U_ONCE]);
    return {plus, minus, 2 * (__popcll(minus) - __popcll(plus)) + once + int(form[CONSTANT]) >> 2};
}

// Lists the u's of `count` packed numbers from `first` on and, unless negative, from `second` on, in natural
// order; of a u and the same backwards (IMAGES > 1) the smaller.  keys: neighbours in this order have most
// even values in common.  totals [EVENS + 1]: sums of the even values, and the number of u's.
extern "C" __global__ void
list_us(i64 first, i64 second, i64 count, i64 *us, i64 *keys, i64 *totals) {
    for (i64 at = blockIdx.x * THREADS + threadIdx.x; at < (second < 0 ? count : 2 * count); at += gridDim.x * THREADS) {
        const i64 u = natural_order(at < count ? first + at : second + at - count, U);
        if (IMAGES > 1 && u > backwards(u, U)) continue;
        const i64 slot = atomicAdd((u64 *)totals + EVENS, u64(1));
        i64 key = 0;
        for (int i = 0; i < EVENS; i++) {
            const int value = half_even(u, i, U);
            if (i < SORTED_FORMS) key = key << SORT_BITS | (value & (1 << SORT_BITS) - 1);
            if (at % 61 == 0) atomicAdd((u64 *)totals + i, u64(i64(value)));
        }
        us[slot] = u;
        keys[slot] = key;
    }
}

// The tables of the v's first … first + 2^bits − 1, all 0 before; there is room for TILE v's:
//   rows [1 + EVENS · VALUES][TILE / 32]: bit x of row 1 + i · VALUES + REACH + q set where the v number x has q as
//   half of even form i; row 0: where there is no v number x.
//   keys [TILE][EVEN_WORDS]: q + 64, a byte for each form.
extern "C" __global__ void
tile_tables(i64 first, int bits, u32 *rows, u32 *keys) {
    for (int x = blockIdx.x * THREADS + threadIdx.x; x < TILE; x += gridDim.x * THREADS) {
        const u32 bit = 1u << (x & 31);
        if (x >> bits) {
            atomicOr(&rows[x / 32], bit);
            continue;
        }
        const i64 v = natural_order(first + x, V);
        for (int i = 0; i < EVENS; i++) {
            const int value = half_even(v, i, V);
            atomicOr(&rows[(1 + i * VALUES + REACH + value) * (TILE / 32) + x / 32], bit);
            keys[x * EVEN_WORDS + i / 4] |= u32(value + 64) << 8 * (i % 4);
        }
    }
}

// Joint rows of two even forms each.  A u's value counts from the start of its form's window; one outside the
// window, here CHOICES − 1, takes no row.
constexpr int EVEN_PAIRS = EVENS > 2 ? (EVENS + 1) / 2 : 1, CHOICES = EVEN_WINDOW + 1, JOINT_ROWS = CHOICES * CHOICES;

// The number of u's row of a pair.
__device__ inline int joint_row(i64 u, int pair, const int *windows) {
    int row = pair * JOINT_ROWS, step = 1;
    for (int i = 2 * pair; i < 2 * pair + 2 && i < EVENS; i++, step *= CHOICES) {
        const u32 within = half_even(u, i, U) - windows[i];
        row += step * int(within < EVEN_WINDOW ? within : EVEN_WINDOW);
    }
    return row;
}

// joint [EVEN_PAIRS][JOINT_ROWS][TILE / 32]: the v's where a form vanishes and, in those of the first pair, where
// there are no v's; windows [EVENS]: where they start.
extern "C" __global__ void
join_even_rows(const u32 *rows, const int *windows, u32 *joint) {
    for (i64 at = blockIdx.x * THREADS + threadIdx.x; at < i64(EVEN_PAIRS) * JOINT_ROWS * (TILE / 32); at += gridDim.x * THREADS) {
        const int word = at % (TILE / 32), row = at / (TILE / 32), pair = row / JOINT_ROWS;
        int rest = row % JOINT_ROWS;
        u32 dead = pair ? 0 : rows[word];
        for (int i = 2 * pair; i < 2 * pair + 2 && i < EVENS; i++, rest /= CHOICES) {
            const int value = windows[i] + rest % CHOICES;
            if (rest % CHOICES < EVEN_WINDOW && value >= -REACH && value <= REACH)
                dead |= rows[(1 + i * VALUES + REACH - value) * (TILE / 32) + word];
        }
        joint[at] = dead;
    }
}
