// The forms of the shifted sum (docs/shifted.md), the u's of a task and the even tables of a tile of v's.
//
// A component in natural order has bit k set where element k is −1.  Packed bits are those of
// langford/methods/shifted/components.py: the outer elements on top, the inner ones lowest.
#include "integers.cuh"

constexpr int INNER_BITS = 8;   // of a v; 2^8 v's are a row
constexpr int LOW_BITS = 5;     // the next ones; a warp takes 2^5 rows at a time
constexpr int TILE = 1 << TILE_BITS, ROWS = TILE >> INNER_BITS, ROW_BITS = TILE_BITS - INNER_BITS;
constexpr int MOST_ELEMENTS = 62, MOST_FORMS = FORMS > EVENS ? FORMS : EVENS;
constexpr int VALUES = 2 * REACH + 1;   // of half an even form
constexpr int HALF_BIAS = 8;   // half bytes hold values of −HALF_BIAS to HALF_BIAS − 1
constexpr int SORT_BITS = 5, SORTED_FORMS = 12;
enum { LAG, LEFT, RIGHT, NEGATIVE, U_ONCE, U_NEGATIVE, CONSTANT, ODD_FIELDS };
enum { HALF_LAG, TERMS, OPPOSED, ONCE, OPPOSITE, MOST, EVEN_FIELDS };

// What the loader fills in: see OddMasks and HalfForm in langford/methods/shifted; the element at each packed
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
    const i64 differing = (mask ^ mask >> form[HALF_LAG] ^ form[OPPOSED]) & form[TERMS];
    const i64 opposite = (mask ^ form[OPPOSITE]) & form[ONCE];
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

// Where a bitmap of the tile has the 128 v's of half a row: of eight rows the halves that a warp reads first, then the
// others.  Two lanes that read one image of two rows at once read different halves, which are in different banks.
constexpr int OWN_BITS = IMAGES > 1 ? 3 : 5;   // lowest bits of a row's number, that tell the rows of a warp apart
__device__ constexpr int first_half(int row) { return IMAGES > 1 ? row & 1 : row >> 2 & 1; }
__device__ constexpr int half_at(int row, int half) { return (row >> 3) * 16 + (half ^ first_half(row)) * 8 + (row & 7); }

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
//   rows [1 + EVENS · VALUES][TILE / 32], halves as half_at says: bit x of row 1 + i · VALUES + REACH + q set where
//   the v number x has q as half of even form i; row 0: where there is no v number x.
//   keys [TILE][EVEN_WORDS], half_keys [TILE][EVEN_WORDS / 2]: q + HALF_BIAS, see HalfEvens.
extern "C" __global__ void
tile_tables(i64 first, int bits, u32 *rows, u32 *keys, u32 *half_keys) {
    for (int x = blockIdx.x * THREADS + threadIdx.x; x < TILE; x += gridDim.x * THREADS) {
        const u32 bit = 1u << (x & 31), word = half_at(x >> INNER_BITS, x >> 7 & 1) * 4 + (x >> 5 & 3);
        if (x >> bits) {
            atomicOr(&rows[word], bit);
            continue;
        }
        const i64 v = natural_order(first + x, V);
        bool fits = true;
        for (int i = 0; i < EVENS; i++) {
            const int value = half_even(v, i, V), half = value + HALF_BIAS;
            atomicOr(&rows[(1 + i * VALUES + REACH + value) * (TILE / 32) + word], bit);
            keys[x * EVEN_WORDS + i / 4] += u32(half) << 8 * (i % 4);
            half_keys[(x * EVEN_WORDS + i / 4) / 2] |= u32(half & 15) << (8 * (i % 4) + 4 * (i / 4 % 2));
            fits &= half >= 0 && half < 16;
        }
        for (int k = 0; k < EVEN_WORDS / 2 && !fits; k++) half_keys[x * (EVEN_WORDS / 2) + k] = ~0u;
    }
}

// Joint rows of up to JOINED even forms each.  A u's value counts from the start of its form's window; one outside the
// window, here CHOICES − 1, takes no row.
constexpr int CHOICES = EVEN_WINDOW + 1, EVEN_GROUPS = EVENS > JOINED ? (EVENS + JOINED - 1) / JOINED : 1;
__device__ constexpr int even_first(int g) {
    return g * (EVENS / EVEN_GROUPS) + (g < EVENS % EVEN_GROUPS ? g : EVENS % EVEN_GROUPS);
}
__device__ constexpr int even_rows(int g) {   // of a group
    int rows = 1;
    for (int i = even_first(g); i < even_first(g + 1); i++) rows *= CHOICES;
    return rows;
}
__device__ constexpr int even_row(int g) { return g ? even_row(g - 1) + even_rows(g - 1) : 0; }   // first one of a group
constexpr int EVEN_ROWS = even_row(EVEN_GROUPS);
struct EvenGroups {
    int form[EVEN_GROUPS + 1], row[EVEN_GROUPS + 1];   // first ones of each
};
__device__ constexpr EvenGroups even_groups() {
    EvenGroups made = {};
    for (int g = 0; g <= EVEN_GROUPS; g++) made.form[g] = even_first(g), made.row[g] = even_row(g);
    return made;
}
__constant__ const EvenGroups in_evens = even_groups();

// The even values of u, and the joint rows that are dead with it.  The work of a warp, a lane for each form.
__device__ inline void find_even_rows(u32 *words, int *joint_row, i64 u, const int *windows) {
    static_assert(4 * EVEN_WORDS <= 32 && EVEN_GROUPS <= 32, "a lane for each");
    const int lane = threadIdx.x % 32, value = lane < EVENS ? half_even(u, lane, U) : 0;
    if (lane < 4 * EVEN_WORDS) reinterpret_cast<unsigned char *>(words)[lane] = 128 - HALF_BIAS + value;
    const u32 within = lane < EVENS ? value - windows[lane] : 0, choice = within < EVEN_WINDOW ? within : EVEN_WINDOW;
    const int group = lane < EVEN_GROUPS ? lane : 0, last = in_evens.form[group + 1];
    int row = 0;
    for (int k = 0; k < EVENS; k++) {
        const int its_choice = __shfl_sync(~0u, choice, k);
        if (k >= in_evens.form[group] && k < last) row = row * CHOICES + its_choice;
    }
    if (lane < EVEN_GROUPS) joint_row[lane] = in_evens.row[lane] + row;
}

// joint [EVEN_ROWS][TILE / 32]: the v's where a form vanishes and, in those of the first group, where there are no
// v's; windows [EVENS]: where they start.
extern "C" __global__ void
join_even_rows(const u32 *rows, const int *windows, u32 *joint) {
    constexpr int WORDS_OF_ROW = TILE / 32;
    // A thread makes a word of all rows that differ in the last form alone.
    constexpr int LAST_CHOICES = EVENS ? CHOICES : 1;
    constexpr i64 ITEMS = i64(EVEN_ROWS / LAST_CHOICES) * WORDS_OF_ROW;
    for (i64 at = blockIdx.x * THREADS + threadIdx.x; at < ITEMS; at += gridDim.x * THREADS) {
        const int word = at % WORDS_OF_ROW, first = int(at / WORDS_OF_ROW) * LAST_CHOICES;
        int group = 0;
        while (group + 1 < EVEN_GROUPS && first >= in_evens.row[group + 1]) group++;
        auto of_choice = [&](int i, int choice) {
            const int value = windows[i] + choice;
            const bool has_row = choice < EVEN_WINDOW && value >= -REACH && value <= REACH;
            return has_row ? rows[(1 + i * VALUES + REACH - value) * WORDS_OF_ROW + word] : 0;
        };
        u32 dead = group ? 0 : rows[word];
        int rest = (first - in_evens.row[group]) / LAST_CHOICES;
        const int last = in_evens.form[group + 1] - 1;
        for (int i = last - 1; i >= in_evens.form[group]; i--, rest /= CHOICES) dead |= of_choice(i, rest % CHOICES);
        for (int choice = 0; choice < LAST_CHOICES; choice++)
            joint[i64(first + choice) * WORDS_OF_ROW + word] = EVENS ? dead | of_choice(last, choice) : dead;
    }
}
