#!/bin/sh
# compute-sanitizer over a few tests of the irregular problems on GPU 0: accesses to memory, then races in
# shared memory.
#
#     sh tests/irregular/sanitize.sh [memcheck | racecheck]
set -eu
cd "$(dirname "$0")/../.."
export LANGFORD_TEST_BLOCKS=1

checked() {
    tool=$1
    chosen=$2
    # CuPy's own kernels are not ours to judge: racecheck warns of one.
    compute-sanitizer --tool "$tool" --error-exitcode 1 --print-limit 20 --kernel-name-exclude kns=cupy_ \
        python3 -m pytest -q -n 0 -p no:cacheprovider -m gpu -k "$chosen" \
        tests/irregular/test_tree_cuda.py tests/irregular/test_cuda.py
}

SCANS="scans_of_all_types and (int32 or float64) and not uint32"
PASSES="rows_of_equal or integers and (deep or forest) and (add or min) or solves_are and (deep or star)"
SEARCHES="searches_of_directed or vertices_of_many or test_components"
case "${1:-both}" in
memcheck) checked memcheck "$SCANS or $PASSES or $SEARCHES or not_finite or looks_back" ;;
racecheck) checked racecheck "$SCANS or rows_of_equal or $SEARCHES" ;;
both) sh "$0" memcheck && sh "$0" racecheck ;;
*) echo "$1 is no check: choose memcheck or racecheck" >&2 && exit 2 ;;
esac
