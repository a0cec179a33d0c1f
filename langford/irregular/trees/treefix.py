"""Accumulations over trees: from the root to each vertex, and from the leaves (Leiserson, Maggs; Defour, Marin).

Four methods give the same result:

``levels``       every vertex once, parents before children or after: work-efficient, any operator.
``euler``        write values and inverses along the Euler tour, one scan over 2n, read.
``preorder``     a subtree is a range of the preorder, so that one scan over n is enough; on a GPU rootfix takes
                 two: what has been entered before a vertex, without what has been left.
``compression``  sparse products over the levels of a scan: any operator, and 2·log2(height) steps.

What depends on the tree alone is prepared by the first accumulation and kept in the Tree.  A GPU adds the tiles of
a scan, and the vertices of a step, in the order in which they come: floats may differ in their last bits from run
to run, within the same bounds.

Integers wrap as their type does and are equal bit for bit over all methods.  For floating-point sums let u be the
unit roundoff, γ(k) = k·u / (1 − k·u), and Σ|w| the sum of the absolute values.  The error is at most

- ``levels``, ``compression``, rootfix: γ(depth) · Σ|w| over the path to the root;
- ``levels``, ``compression``, leaffix: γ(size − 1) · Σ|w| over the subtree;
- ``preorder``: 2·γ(2n) · Σ|w| over all vertices up to the end of the subtree (leaffix) or up to the vertex
  (rootfix): what the scan has added up before is subtracted again;
- ``euler``: the same with 4n instead of 2n.

Divided by the result, Σ|w| over the same set is its condition; what ``euler`` and ``preorder`` add to it is the
share of the rest of the tree, and where that overflows they give NaN.  A product of k factors has the relative
error γ(k) in ``levels`` and ``compression``.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from langford.errors import BadInput
from langford.irregular.arrays import Array, module_of, on_gpu, require_choice, require_length, require_numbers
from langford.irregular.compression import OPERATORS
from langford.irregular.cpu.tree import downwards, downwards_xor, upwards, upwards_xor
from langford.irregular.trees.tree import Tree

Operator = Literal["add", "mul", "min", "max", "xor"]
TreefixMethod = Literal["auto", "levels", "euler", "preorder", "compression"]
UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}
INVERTIBLE = ("add", "mul", "xor")
METHODS = get_args(TreefixMethod)


def rootfix(tree: Tree, values: Array, op: Operator, method: TreefixMethod = "auto") -> Array:
    """Combine the values of every vertex and of all vertices above it.

    Args:
        tree: a forest.
        values: of the vertices, finite integers or floats [n].
        op: "add", "mul", "min", "max" or, for integers, "xor".
        method: one of the four above; "auto": ``levels`` on the CPU; on a GPU ``preorder`` for integers, where it
            applies, else ``compression``.

    Returns an array of the values' type, [n].  Raises BadInput, also for values that
    are not finite, for types besides integers and floats of 32 or 64 bits (a core takes integers of 8 and 16
    bits too), and for ``euler`` and ``preorder`` with an operator that has no inverse, with products of
    integers or with a factor of zero.
    """
    method = _checked(tree, values, op, method)
    if on_gpu(values):
        return _on_gpu(tree, values, op, method, down=True)
    if method == "levels":
        return _by_levels(tree, values, op, down=True)
    if method == "compression":
        return _by_compression(tree, values, op, down=True)
    inverse = _inverse(values, op)
    written = _neutral(values, op, 2 * len(tree) if method == "euler" else len(tree) + 1)
    if method == "euler":
        places = tree.opened
        written[places], written[tree.closed] = values, inverse
    else:
        places = tree.preorder
        # Several subtrees may end before the same vertex.
        written[places] = values
        UFUNCS[op].at(written, places + tree.size, inverse)
    return _scanned(written, op)[places]


def leaffix(tree: Tree, values: Array, op: Operator, method: TreefixMethod = "auto") -> Array:
    """Combine the values of every vertex and of all vertices below it.

    Args:
        tree, values, op, method: as for :func:`rootfix`.

    Returns and raises as :func:`rootfix`.
    """
    method = _checked(tree, values, op, method)
    if on_gpu(values):
        return _on_gpu(tree, values, op, method, down=False)
    if method == "levels":
        return _by_levels(tree, values, op, down=False)
    if method == "compression":
        return _by_compression(tree, values, op, down=False)
    _require_inverse(values, op)
    written = _neutral(values, op, (2 * len(tree) if method == "euler" else len(tree)) + 1)
    places = tree.opened if method == "euler" else tree.preorder
    ends = tree.closed if method == "euler" else tree.preorder + tree.size
    written[places + 1] = values
    sums = _scanned(written, op)
    return _without(op, sums[ends], sums[places])


def _checked(tree: Tree, values: Array, op: str, method: str) -> TreefixMethod:
    """The method to use; raises BadInput."""
    require_choice("operator", op, OPERATORS)
    require_choice("method", method, METHODS)
    module_of(tree.above, values)
    require_length("values", values, len(tree), "vertex")
    require_numbers("values", values)
    if values.dtype == np.float16 or not values.dtype.isnative:
        raise BadInput(f"values of type {values.dtype} are not supported: convert them to native floats")
    integers = values.dtype.kind in "iu"
    if op == "xor" and not integers:
        raise BadInput("xor combines integers: convert the values, or choose another operator")
    if method in ("euler", "preorder") and op not in INVERTIBLE:
        raise BadInput(f"{method} must undo the operator, and {op} has no inverse: use levels or compression")
    if on_gpu(values) and values.dtype.itemsize not in (4, 8):
        raise BadInput(f"a GPU combines numbers of 32 or 64 bits, not {values.dtype}: convert the values")
    if method != "auto":
        return method  # type: ignore[return-value]
    if not on_gpu(values):
        return "levels"
    return "preorder" if integers and op in ("add", "xor") else "compression"


def _on_gpu(tree: Tree, values: Array, op: str, method: str, down: bool) -> Array:
    if method in ("euler", "preorder"):
        _require_inverse(values, op)
    from langford.irregular.cuda.treefix import treefix_on_gpu

    return treefix_on_gpu(tree, values, op, method, down)


def _by_levels(tree: Tree, values: Array, op: str, down: bool) -> Array:
    """Each vertex once, in breadth-first order."""
    combined = values.copy()
    if op == "xor":
        (downwards_xor if down else upwards_xor)(tree.above, tree.order, combined)
    else:
        (downwards if down else upwards)(OPERATORS[op], tree.above, tree.order, combined)
    return combined


def _by_compression(tree: Tree, values: Array, op: str, down: bool) -> Array:
    """Sparse products over the levels."""
    combined = values.copy()
    for step in reversed(tree.steps) if down else tree.steps:
        if down:
            combined[step.sources] = UFUNCS[op](combined[step.targets], combined[step.sources])
        else:
            UFUNCS[op].at(combined, step.targets, combined[step.sources])
    return combined


def _require_inverse(values: Array, op: str) -> None:
    """Raises BadInput when a value cannot be undone."""
    if op != "mul":
        return
    if values.dtype.kind in "iu":
        raise BadInput("a product of integers cannot be undone: use levels or compression, or convert to floats")
    if bool((values == 0).any()):
        zero = int((values == 0).argmax())
        raise BadInput(f"the factor of vertex {zero} is zero and cannot be undone: use levels or compression")


def _inverse(values: Array, op: str) -> Array:
    """What undoes each value; raises BadInput."""
    _require_inverse(values, op)
    if op == "xor":
        return values
    return np.negative(values) if op == "add" else 1 / values


def _neutral(values: Array, op: str, length: int) -> Array:
    """An array of the operator's neutral element."""
    return np.full(length, 1 if op == "mul" else 0, values.dtype)


def _scanned(values: Array, op: str) -> Array:
    """The combinations of all values up to each place."""
    if op == "add":
        return np.cumsum(values, dtype=values.dtype)
    if op == "mul":
        return np.cumprod(values, dtype=values.dtype)
    return np.bitwise_xor.accumulate(values)


def _without(op: str, whole: Array, part: Array) -> Array:
    """What has to be combined with ``part`` to make ``whole``."""
    if op == "add":
        return whole - part
    return whole / part if op == "mul" else whole ^ part
