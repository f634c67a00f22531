/* What the PTX compiler (ptx_compile.c, in the driver) and the code that executes its
 * result (ptx_*.c, in the runtime) have to agree on: how an instruction is written in a
 * number.
 *
 * An instruction of an asm statement becomes a call with such a number and the values of
 * its operands. The number says what the modifiers say: the operation, its types, the
 * rounding, and so on. A value is always 64 bits wide; what a narrower type leaves free
 * is zero. */
#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stdint.h>

/* name, text, bits, kind: how the values are to be read. */
#define PTX_TYPES(X)                                                                     \
    X(PRED, "pred", 1, PTX_BITS)                                                         \
    X(B8, "b8", 8, PTX_BITS)                                                             \
    X(U8, "u8", 8, PTX_UNSIGNED)                                                         \
    X(S8, "s8", 8, PTX_SIGNED)                                                           \
    X(B16, "b16", 16, PTX_BITS)                                                          \
    X(U16, "u16", 16, PTX_UNSIGNED)                                                      \
    X(S16, "s16", 16, PTX_SIGNED)                                                        \
    X(B32, "b32", 32, PTX_BITS)                                                          \
    X(U32, "u32", 32, PTX_UNSIGNED)                                                      \
    X(S32, "s32", 32, PTX_SIGNED)                                                        \
    X(B64, "b64", 64, PTX_BITS)                                                          \
    X(U64, "u64", 64, PTX_UNSIGNED)                                                      \
    X(S64, "s64", 64, PTX_SIGNED)                                                        \
    X(F16, "f16", 16, PTX_FLOAT)                                                         \
    X(F16X2, "f16x2", 32, PTX_PACKED)                                                    \
    X(BF16, "bf16", 16, PTX_FLOAT)                                                       \
    X(BF16X2, "bf16x2", 32, PTX_PACKED)                                                  \
    X(U16X2, "u16x2", 32, PTX_PACKED)                                                    \
    X(S16X2, "s16x2", 32, PTX_PACKED)                                                    \
    X(TF32, "tf32", 32, PTX_PACKED)                                                      \
    X(E4M3, "e4m3", 8, PTX_PACKED)                                                       \
    X(E5M2, "e5m2", 8, PTX_PACKED)                                                       \
    X(E4M3X2, "e4m3x2", 16, PTX_PACKED)                                                  \
    X(E5M2X2, "e5m2x2", 16, PTX_PACKED)                                                  \
    X(F32, "f32", 32, PTX_FLOAT)                                                         \
    X(F64, "f64", 64, PTX_FLOAT)                                                         \
    X(S4, "s4", 4, PTX_SIGNED)                                                           \
    X(U4, "u4", 4, PTX_UNSIGNED)                                                         \
    X(B1, "b1", 1, PTX_BITS)

enum ptx_kind { PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT, PTX_PACKED };

#define PTX_AS_NAME(name, text, bits, kind) PTX_##name,
enum ptx_type { PTX_NONE, PTX_TYPES(PTX_AS_NAME) PTX_TYPE_COUNT };
#undef PTX_AS_NAME

struct ptx_type_info {
    const char *text;
    unsigned bits;
    enum ptx_kind kind;
};
#define PTX_AS_ROW(name, text, bits, kind) {text, bits, kind},
static const struct ptx_type_info ptx_types[] = {{"", 0, PTX_BITS},
                                                 PTX_TYPES(PTX_AS_ROW)};
#undef PTX_AS_ROW

/* Operations that compute a value from values. */
enum ptx_op {
    PTX_ADD = 1,
    PTX_SUB,
    PTX_MUL,
    PTX_MAD,
    PTX_FMA,
    PTX_DIV,
    PTX_REM,
    PTX_SAD,
    PTX_MIN,
    PTX_MAX,
    PTX_ABS,
    PTX_NEG,
    PTX_AND,
    PTX_OR,
    PTX_XOR,
    PTX_NOT,
    PTX_CNOT,
    PTX_SHL,
    PTX_SHR,
    PTX_LOP3,
    PTX_PRMT,
    PTX_SHF,
    PTX_BFE,
    PTX_BFI,
    PTX_BFIND,
    PTX_BREV,
    PTX_CLZ,
    PTX_POPC,
    PTX_SZEXT,
    PTX_BMSK,
    PTX_FNS,
    PTX_DP4A,
    PTX_DP2A,
    PTX_RCP,
    PTX_SQRT,
    PTX_RSQRT,
    PTX_EX2,
    PTX_LG2,
    PTX_SIN,
    PTX_COS,
    PTX_TANH,
    PTX_COPYSIGN,
    PTX_TESTP,
    PTX_CVT,
    PTX_CVT_PACK,
    PTX_SETP,
    PTX_SET,
    PTX_SELP,
    PTX_SLCT,
    PTX_EXCH,
    PTX_CAS,
    PTX_INC,
    PTX_DEC,
};

enum ptx_rounding {
    PTX_RN,
    PTX_RZ,
    PTX_RM,
    PTX_RP,
    PTX_RNA,
    PTX_RNI,
    PTX_RZI,
    PTX_RMI,
    PTX_RPI
};

/* Of setp and set; from EQU on a NaN makes it true. */
enum ptx_comparison {
    PTX_EQ,
    PTX_NE,
    PTX_LT,
    PTX_LE,
    PTX_GT,
    PTX_GE,
    PTX_EQU,
    PTX_NEU,
    PTX_LTU,
    PTX_LEU,
    PTX_GTU,
    PTX_GEU,
    PTX_NUM,
    PTX_NAN
};

/* The number: an operation, the type of the result, that of the operands where it is
 * another, a rounding, a detail (a comparison, the byte order of prmt, ...), and flags.
 */
#define PTX_CODE(op, type, from, rounding, detail)                                       \
    ((uint64_t)(op) | (uint64_t)(type) << 8 | (uint64_t)(from) << 14 |                   \
     (uint64_t)(rounding) << 20 | (uint64_t)(detail) << 24)
#define PTX_OP_OF(code) ((enum ptx_op)((code) & 255))
#define PTX_TYPE_OF(code) ((enum ptx_type)((code) >> 8 & 63))
#define PTX_FROM_OF(code) ((enum ptx_type)((code) >> 14 & 63))
#define PTX_ROUNDING_OF(code) ((enum ptx_rounding)((code) >> 20 & 15))
#define PTX_DETAIL_OF(code) ((unsigned)((code) >> 24 & 255))

#define PTX_FLAG(n) ((uint64_t)1 << (32 + (n)))
#define PTX_SAT PTX_FLAG(0)
#define PTX_FTZ PTX_FLAG(1)
#define PTX_RELU PTX_FLAG(2)
#define PTX_SATFINITE PTX_FLAG(3)
#define PTX_HI PTX_FLAG(4)
#define PTX_WIDE PTX_FLAG(5)
#define PTX_KEEP_NAN PTX_FLAG(6) /* min.NaN, max.NaN */
#define PTX_XORSIGN PTX_FLAG(7)
#define PTX_CARRY_IN PTX_FLAG(8)
#define PTX_CARRY_OUT PTX_FLAG(9) /* the result is the carry alone */
#define PTX_WRAP PTX_FLAG(10)     /* of shf, szext and bmsk; else the count is clamped */
#define PTX_LEFT PTX_FLAG(11)     /* of shf */
#define PTX_SHIFT_AMOUNT PTX_FLAG(12) /* of bfind */
#define PTX_HIGH_HALF                                                                    \
    PTX_FLAG(13) /* of dp2a; of setp with two packed results, the second */
#define PTX_COMPLEMENT PTX_FLAG(14) /* of setp: the second result */
#define PTX_APPROX PTX_FLAG(15)
#define PTX_BOOL_SHIFT (32 + 16) /* what setp does with its last operand */
enum ptx_boolean { PTX_BOOL_NONE, PTX_BOOL_AND, PTX_BOOL_OR, PTX_BOOL_XOR };
#define PTX_BOOL_OF(code) ((enum ptx_boolean)((code) >> PTX_BOOL_SHIFT & 3))

/* Of loads, stores and atomics; the bits are used for other things above. */
#define PTX_STRONG PTX_FLAG(16)   /* volatile, relaxed, acquire, release */
#define PTX_IN_BLOCK PTX_FLAG(17) /* strong only among the threads of a block */

/* Of ldmatrix, stmatrix and mma; the bits are used for other things above. */
#define PTX_MATRIX_COUNT 40
#define PTX_TRANSPOSED PTX_FLAG(16)
#define PTX_BINARY_AND PTX_FLAG(17)
#define PTX_A_REGISTERS PTX_FLAG(18) /* of wgmma */

/* What the lanes of a warp find out together: the detail of emu_ptx_vote's code. */
enum ptx_vote {
    PTX_ALL,
    PTX_ANY,
    PTX_UNI,
    PTX_BALLOT,
    PTX_MATCH_ANY,
    PTX_MATCH_ALL,
    PTX_REDUCE_ADD,
    PTX_REDUCE_MIN,
    PTX_REDUCE_MAX,
    PTX_REDUCE_AND,
    PTX_REDUCE_OR,
    PTX_REDUCE_XOR,
    PTX_ELECT
};

/* What can be read by name. */
#define PTX_SPECIALS(X)                                                                  \
    X(TID, "%tid", 32, 1)                                                                \
    X(NTID, "%ntid", 32, 1)                                                              \
    X(CTAID, "%ctaid", 32, 1)                                                            \
    X(NCTAID, "%nctaid", 32, 1)                                                          \
    X(CLUSTERID, "%clusterid", 32, 1)                                                    \
    X(NCLUSTERID, "%nclusterid", 32, 1)                                                  \
    X(CLUSTER_CTAID, "%cluster_ctaid", 32, 1)                                            \
    X(CLUSTER_NCTAID, "%cluster_nctaid", 32, 1)                                          \
    X(CLUSTER_CTARANK, "%cluster_ctarank", 32, 0)                                        \
    X(CLUSTER_NCTARANK, "%cluster_nctarank", 32, 0)                                      \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster", 1, 0)                                 \
    X(LANEID, "%laneid", 32, 0)                                                          \
    X(WARPID, "%warpid", 32, 0)                                                          \
    X(NWARPID, "%nwarpid", 32, 0)                                                        \
    X(SMID, "%smid", 32, 0)                                                              \
    X(NSMID, "%nsmid", 32, 0)                                                            \
    X(GRIDID, "%gridid", 64, 0)                                                          \
    X(LANEMASK_EQ, "%lanemask_eq", 32, 0)                                                \
    X(LANEMASK_LT, "%lanemask_lt", 32, 0)                                                \
    X(LANEMASK_LE, "%lanemask_le", 32, 0)                                                \
    X(LANEMASK_GT, "%lanemask_gt", 32, 0)                                                \
    X(LANEMASK_GE, "%lanemask_ge", 32, 0)                                                \
    X(CLOCK, "%clock", 32, 0)                                                            \
    X(CLOCK_HI, "%clock_hi", 32, 0)                                                      \
    X(CLOCK64, "%clock64", 64, 0)                                                        \
    X(GLOBALTIMER, "%globaltimer", 64, 0)                                                \
    X(GLOBALTIMER_LO, "%globaltimer_lo", 32, 0)                                          \
    X(GLOBALTIMER_HI, "%globaltimer_hi", 32, 0)                                          \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size", 32, 0)                                    \
    X(TOTAL_SMEM_SIZE, "%total_smem_size", 32, 0)
#define PTX_AS_SPECIAL(name, text, bits, vector) PTX_SPECIAL_##name,
enum ptx_special { PTX_SPECIALS(PTX_AS_SPECIAL) PTX_SPECIAL_COUNT };
#undef PTX_AS_SPECIAL

/* State spaces of an address. In a code for an access they are its detail. */
enum ptx_space {
    PTX_GENERIC,
    PTX_GLOBAL,
    PTX_SHARED,
    PTX_CLUSTER,
    PTX_CONST,
    PTX_LOCAL,
    PTX_PARAM
};

#endif
