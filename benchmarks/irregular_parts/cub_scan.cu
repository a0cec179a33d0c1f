// The peer of scan.cuh: CUB's inclusive sum, which cub_scan.py compiles with nvcc.
#include <cub/device/device_scan.cuh>

// Without `storage`, tells how many bytes of it are needed.
#define SUMS(NAME, VALUE)                                                                                              \
    extern "C" int NAME(void *storage, size_t *bytes, const VALUE *from, VALUE *sums, int count) {                     \
        return cub::DeviceScan::InclusiveSum(storage, *bytes, from, sums, count, cudaStreamLegacy);                    \
    }
SUMS(int32_sums, int)
SUMS(int64_sums, long long)
SUMS(float64_sums, double)
