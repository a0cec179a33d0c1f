// Places: where the filter has the odd forms of one u and image, and the two bits of a row's number that it treats
// apart.
//
// A lane takes four rows at once, whose numbers differ in two bits only.  At given u about half of the odd forms do not
// depend on a bit of v, and a group of such forms has the same joint row at both values of the bit: of five groups
// one is read once for the four rows, two are read twice, the others for each row.  The two bits are chosen for each
// u, so that its images have enough forms of each kind; a form left without a place of its kind is not tested.
#include "forms.cuh"

constexpr int SLOTS = 4;   // images
constexpr int LINE = 8;    // blocks of 16 bytes that the row of all images takes

// Places by group.
constexpr int GROUP_SIZE[] = {GROUP_SIZES}, GROUPS = sizeof GROUP_SIZE / sizeof(int);
constexpr int WINDOW[FORMS] = {WINDOWS};
__constant__ const int window_at[FORMS] = {WINDOWS};

__device__ constexpr int group_first(int g) { return g ? group_first(g - 1) + GROUP_SIZE[g - 1] : 0; }
__device__ constexpr int stride(int g, int k) { return k ? stride(g, k - 1) * (WINDOW[group_first(g) + k - 1] + 1) : 1; }
__device__ constexpr int group_line(int g) { return g ? group_line(g - 1) + stride(g - 1, GROUP_SIZE[g - 1]) : 0; }
constexpr int LINES = group_line(GROUPS);
__device__ constexpr int single_row(int place) { return place ? single_row(place - 1) + WINDOW[place - 1] : 0; }
constexpr int SINGLE_ROWS = single_row(FORMS);

struct Singles {
    int first[FORMS];
};
__device__ constexpr Singles singles() {
    Singles made = {};
    for (int place = 0; place < FORMS; place++) made.first[place] = single_row(place);
    return made;
}
__constant__ const Singles in_singles = singles();

// The bits that forms of a group may depend on: 1 the first, 2 the second, 3 both, 0 none.
constexpr int KINDS = 4;
__device__ constexpr int kind(int g) { return g / 2 % 3 == 0 ? 3 : g / 2 % 3 == 1 ? 1 + g % 2 : 0; }

// The places of each kind, from the shortest window to the longest.
struct OfKind {
    int count[KINDS];
    signed char place[KINDS][FORMS];
};
__device__ constexpr OfKind of_kind() {
    OfKind made = {};
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < GROUP_SIZE[g]; k++) {
            const int place = group_first(g) + k;
            int at = made.count[kind(g)]++;
            for (; at && WINDOW[made.place[kind(g)][at - 1]] > WINDOW[place]; at--)
                made.place[kind(g)][at] = made.place[kind(g)][at - 1];
            made.place[kind(g)][at] = place;
        }
    return made;
}
__constant__ const OfKind places = of_kind();
__device__ constexpr int room(int kind) { return of_kind().count[kind]; }
__constant__ const int ROOM[KINDS] = {room(0), room(1), room(2), room(3)};

// Two bits of a row's number, first < second.
struct RowBits {
    int first, second;
};
__device__ inline RowBits row_bits(u32 choice) { return {int(choice & 255), int(choice >> 8)}; }

// Places of kinds 1 and 2 that no form of their own takes, and all of kind 0.
__device__ inline int open_places(int firsts, int seconds) {
    return ROOM[0] + (firsts < ROOM[1] ? ROOM[1] - firsts : 0) + (seconds < ROOM[2] ? ROOM[2] - seconds : 0);
}

// choices [count]: the two bits of each u that leave the fewest forms without a test.
extern "C" __global__ void
choose_row_bits(const i64 *us, int count, int bits, u32 *choices) {
    constexpr int DIFFERENT = IMAGES > 1 ? SLOTS : 1;
    for (int at = blockIdx.x * THREADS + threadIdx.x; at < count; at += gridDim.x * THREADS) {
        u32 depending[ROW_BITS][DIFFERENT];
        for (int slot = 0; slot < DIFFERENT; slot++) {
            for (int bit = 0; bit < ROW_BITS; bit++) depending[bit][slot] = 0;
            const i64 u = slot & 1 ? backwards(us[at], U) : us[at];
            for (int f = 0; f < FORMS; f++) {
                const Linear form = linear_form(u, f);
                const i64 terms = slot & 2 ? backwards(form.plus | form.minus, V) : form.plus | form.minus;
                for (int bit = 0; bit < ROW_BITS && bit + INNER_BITS < bits; bit++)
                    depending[bit][slot] |= u32(terms >> elements[V][bit + INNER_BITS] & 1) << f;
            }
        }
        int fewest = DIFFERENT * FORMS + 1;
        u32 choice = 0;
        for (int second = OWN_BITS + 1; second < ROW_BITS; second++)
            for (int first = OWN_BITS; first < second; first++) {
                int untested = 0;
                for (int slot = 0; slot < DIFFERENT; slot++) {
                    const u32 one = depending[first][slot], two = depending[second][slot];
                    const int lacking = open_places(__popc(one & ~two), __popc(two & ~one)) - (FORMS - __popc(one | two));
                    untested += lacking > 0 ? lacking : 0;
                }
                if (untested < fewest) fewest = untested, choice = first | second << 8;
            }
        choices[at] = choice;
    }
}

// An odd form at u and an image: packed bits that add and take 1, the value with no free bit set, the first inner sum
// of its window, and whether the filter tests it.
struct Term {
    u32 plus, minus;
    short start, window;
    int tested;
};

__device__ inline int inner_terms(const Term &term) { return __popc((term.plus | term.minus) & 255); }

// The first inner sum of a window: the sums that most often meet the opposite of the outer one.
__device__ inline int window_start(const Term &term, int window) {
    const int up = __popc(term.plus & 255), down = __popc(term.minus & 255), inner = up + down;
    const int outer_up = __popc(term.plus) - up, outer_down = __popc(term.minus) - down, outer = outer_up + outer_down;
    const float needed = -term.start - 0.5f * (outer_up - outer_down), middle = 0.5f * (up - down);
    const float likely = middle + (needed - middle) * inner / (inner + outer ? inner + outer : 1);
    int first = int(floorf(likely - 0.5f * (window - 1) + 0.5f));
    if (first > up - window + 1) first = up - window + 1;
    return first < -down ? -down : first;
}

// The bits of a row's number that a form depends on: a kind.
__device__ inline int depends_on(const Term &term, RowBits bits) {
    const u32 either = (term.plus | term.minus) >> INNER_BITS;
    return int(either >> bits.first & 1 | (either >> bits.second & 1) << 1);
}

// The kind of place of each lane's form, and whether it is tested.  A form that depends on nothing may have any place,
// one that depends on one bit may have one of kind 3; what is beyond those takes a place that is left and is not tested.
struct Kind {
    int kind;
    bool tested;
};
__device__ inline Kind find_kind(int own, bool is_form, u32 below) {
    int count[KINDS], rank = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const u32 votes = __ballot_sync(~0u, is_form && own == kind);
        count[kind] = __popc(votes);
        if (own == kind) rank = __popc(votes & below);
    }
    const int open = open_places(count[1], count[2]);
    const int open_first = count[1] < ROOM[1] ? ROOM[1] - count[1] : 0;
    const int beyond[2] = {count[1] > ROOM[1] ? count[1] - ROOM[1] : 0, count[2] > ROOM[2] ? count[2] - ROOM[2] : 0};
    Kind found = {own, true};
    // Its number among the forms that kinds 0, 1 and 2 have no place for, or that of the open place it takes.
    int in_both = -1, in_open = -1;
    if (own == 3) in_both = rank;
    else if (own == 0 && rank < open) in_open = rank;
    else if (own == 0) in_both = count[3] + beyond[0] + beyond[1] + rank - open;
    else if (rank >= ROOM[own]) in_both = count[3] + (own == 2 ? beyond[0] : 0) + rank - ROOM[own];
    if (in_both >= 0) found.kind = 3;
    if (in_both >= ROOM[3]) {
        in_open = count[0] + in_both - ROOM[3];
        found.tested = false;
    }
    if (in_open >= 0) found.kind = in_open < ROOM[0] ? 0 : in_open < ROOM[0] + open_first ? 1 : 2;
    return found;
}

// Deals the forms of u and one image to places, those with the fewest inner terms to the shortest windows of their
// kinds.  The work of a warp, a lane for each form; the first form has the opposite sign if `negative`.
// fixed: elements that are −1 in the whole tile.
__device__ inline void deal_forms(Term (*by_place)[SLOTS], int slot, i64 u, i64 fixed, int bits, bool negative,
                                  RowBits apart) {
    static_assert(FORMS <= 32, "a lane for each form");
    const int f = threadIdx.x % 32;
    const bool is_form = f < FORMS;
    Linear form = linear_form(IMAGES > 1 && slot & 1 ? backwards(u, U) : u, is_form ? f : 0);
    if (IMAGES > 1 && slot & 2) form = {backwards(form.plus, V), backwards(form.minus, V), form.start};
    if (negative && f == 0) form = {form.minus, form.plus, -form.start};
    Term term = {};
    for (int bit = 0; bit < bits; bit++) {
        term.plus |= u32(form.plus >> elements[V][bit] & 1) << bit;
        term.minus |= u32(form.minus >> elements[V][bit] & 1) << bit;
    }
    term.start = form.start + __popcll(fixed & form.plus) - __popcll(fixed & form.minus);
    const Kind found = find_kind(depends_on(term, apart), is_form, (1u << f) - 1);
    term.tested = found.tested;
    const u32 first = found.kind << 16, key = inner_terms(term) << 8 | f;
    const u32 in_order = is_form ? first | key : ~0u;
    int rank = 0;
    for (int other = 0; other < FORMS; other++) rank += u32(__shfl_sync(~0u, in_order, other)) - first < key;
    if (!is_form) return;
    const int place = places.place[found.kind][rank];
    term.window = window_start(term, window_at[place]);
    by_place[place][slot] = term;
}
