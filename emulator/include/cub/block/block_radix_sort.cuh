/* Sorts what the threads of a block have; each counts how many come before its keys. */
#ifndef CUB_BLOCK_RADIX_SORT_CUH
#define CUB_BLOCK_RADIX_SORT_CUH

#include "block_exchange.cuh"

namespace cub
{

template <class Key, int X, int EACH, class Value = NullType, int = 4, bool = true,
          int = 0, int = 0, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort
{
    enum { THREADS = X * Y * Z, BITS = 8 * sizeof(Key) };
    typedef BlockExchange<Key, X, EACH, false, Y, Z> Keys;
    typedef BlockExchange<Value, X, EACH, false, Y, Z> Values;

  public:
    struct TempStorage {
        emu_room<unsigned long long, THREADS * EACH> digits;
        typename Keys::TempStorage keys;
        typename Values::TempStorage values;
    };
    explicit BlockRadixSort(TempStorage &s) : storage(s)
    {
    }

/* Keys alone, or with their values. */
#define EMU_SORT(name, descending, striped)                                              \
    void name(Key(&keys)[EACH], int begin = 0, int end = BITS)                           \
    {                                                                                    \
        Value none[EACH] = {};                                                           \
        sort(keys, none, begin, end, descending, striped);                               \
    }                                                                                    \
    void name(Key(&keys)[EACH], Value(&values)[EACH], int begin = 0, int end = BITS)     \
    {                                                                                    \
        sort(keys, values, begin, end, descending, striped);                             \
    }
    EMU_SORT(Sort, false, false)
    EMU_SORT(SortDescending, true, false)
    EMU_SORT(SortBlockedToStriped, false, true)
#undef EMU_SORT

  private:
    TempStorage &storage;

    void sort(Key (&keys)[EACH], Value (&values)[EACH], int begin, int end,
              bool descending, bool striped)
    {
        const int first = emu_rank<X, Y>() * EACH;
        int ranks[EACH] = {};
        for (int k = 0; k < EACH; k++) {
            const unsigned long long x = emu_radix(keys[k], begin, end);
            storage.digits[first + k] = descending ? ~x : x;
        }
        __syncthreads();
        for (int i = 0; i < THREADS * EACH; i++) {
            const unsigned long long other = storage.digits[i];
            for (int k = 0; k < EACH; k++) {
                const unsigned long long x = storage.digits[first + k];
                ranks[k] += other < x || (other == x && i < first + k);
            }
        }
        if (striped) {
            Keys(storage.keys).ScatterToStriped(keys, ranks);
            Values(storage.values).ScatterToStriped(values, ranks);
        } else {
            Keys(storage.keys).ScatterToBlocked(keys, ranks);
            Values(storage.values).ScatterToBlocked(values, ranks);
        }
    }
};

} // namespace cub

#endif
