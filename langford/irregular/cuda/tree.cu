// Linked lists, and trees as lists of parents.
//
// Defined by the loader: VERTEX, VALUE.
#include "arrays.cuh"

// One round of pointer jumping over a list, or a tree: `after` becomes the next but as many as before.
extern "C" __global__ void jump(i64 n, const i64 *following, const i64 *rank, i64 *after, i64 *new_rank) {
    EACH(element, n) {
        const i64 next = following[element];
        new_rank[element] = rank[element] + rank[next];
        after[element] = following[next];
    }
}
