/* The code of repair slices (section 3). See chunkwire_repair.h.
 *
 * Slices count as filled up with zeros to CW_SLICE_SIZE. A slot holds one slice; the rows of
 * the repair slices are kept in reduced form over the columns that are missing, so that each
 * has a column, its pivot, that no other has. Their data stay as they came until the end. */
#include "chunkwire_repair.h"

#include <string.h>

enum { SUMS = 16, TILE = 64, WORDS = TILE / 8 };

#define CODE_SEED 6535u /* RPC-2 */
#define NO_PIVOT ((uint32_t)CW_MAX_SLICES)

/* ---- The field (RPC-3) ------------------------------------------------------ */

static const uint8_t power[510] = {
    1, 2, 4, 8, 16, 32, 64, 128, 29, 58, 116, 232, 205, 135, 19, 38, 76, 152, 45, 90,
    180, 117, 234, 201, 143, 3, 6, 12, 24, 48, 96, 192, 157, 39, 78, 156, 37, 74, 148, 53,
    106, 212, 181, 119, 238, 193, 159, 35, 70, 140, 5, 10, 20, 40, 80, 160, 93, 186, 105, 210,
    185, 111, 222, 161, 95, 190, 97, 194, 153, 47, 94, 188, 101, 202, 137, 15, 30, 60, 120, 240,
    253, 231, 211, 187, 107, 214, 177, 127, 254, 225, 223, 163, 91, 182, 113, 226, 217, 175, 67, 134,
    17, 34, 68, 136, 13, 26, 52, 104, 208, 189, 103, 206, 129, 31, 62, 124, 248, 237, 199, 147,
    59, 118, 236, 197, 151, 51, 102, 204, 133, 23, 46, 92, 184, 109, 218, 169, 79, 158, 33, 66,
    132, 21, 42, 84, 168, 77, 154, 41, 82, 164, 85, 170, 73, 146, 57, 114, 228, 213, 183, 115,
    230, 209, 191, 99, 198, 145, 63, 126, 252, 229, 215, 179, 123, 246, 241, 255, 227, 219, 171, 75,
    150, 49, 98, 196, 149, 55, 110, 220, 165, 87, 174, 65, 130, 25, 50, 100, 200, 141, 7, 14,
    28, 56, 112, 224, 221, 167, 83, 166, 81, 162, 89, 178, 121, 242, 249, 239, 195, 155, 43, 86,
    172, 69, 138, 9, 18, 36, 72, 144, 61, 122, 244, 245, 247, 243, 251, 235, 203, 139, 11, 22,
    44, 88, 176, 125, 250, 233, 207, 131, 27, 54, 108, 216, 173, 71, 142, 1, 2, 4, 8, 16,
    32, 64, 128, 29, 58, 116, 232, 205, 135, 19, 38, 76, 152, 45, 90, 180, 117, 234, 201, 143,
    3, 6, 12, 24, 48, 96, 192, 157, 39, 78, 156, 37, 74, 148, 53, 106, 212, 181, 119, 238,
    193, 159, 35, 70, 140, 5, 10, 20, 40, 80, 160, 93, 186, 105, 210, 185, 111, 222, 161, 95,
    190, 97, 194, 153, 47, 94, 188, 101, 202, 137, 15, 30, 60, 120, 240, 253, 231, 211, 187, 107,
    214, 177, 127, 254, 225, 223, 163, 91, 182, 113, 226, 217, 175, 67, 134, 17, 34, 68, 136, 13,
    26, 52, 104, 208, 189, 103, 206, 129, 31, 62, 124, 248, 237, 199, 147, 59, 118, 236, 197, 151,
    51, 102, 204, 133, 23, 46, 92, 184, 109, 218, 169, 79, 158, 33, 66, 132, 21, 42, 84, 168,
    77, 154, 41, 82, 164, 85, 170, 73, 146, 57, 114, 228, 213, 183, 115, 230, 209, 191, 99, 198,
    145, 63, 126, 252, 229, 215, 179, 123, 246, 241, 255, 227, 219, 171, 75, 150, 49, 98, 196, 149,
    55, 110, 220, 165, 87, 174, 65, 130, 25, 50, 100, 200, 141, 7, 14, 28, 56, 112, 224, 221,
    167, 83, 166, 81, 162, 89, 178, 121, 242, 249, 239, 195, 155, 43, 86, 172, 69, 138, 9, 18,
    36, 72, 144, 61, 122, 244, 245, 247, 243, 251, 235, 203, 139, 11, 22, 44, 88, 176, 125, 250,
    233, 207, 131, 27, 54, 108, 216, 173, 71, 142,
};

static const uint8_t logarithm[256] = {
    0, 0, 1, 25, 2, 50, 26, 198, 3, 223, 51, 238, 27, 104, 199, 75, 4, 100, 224, 14,
    52, 141, 239, 129, 28, 193, 105, 248, 200, 8, 76, 113, 5, 138, 101, 47, 225, 36, 15, 33,
    53, 147, 142, 218, 240, 18, 130, 69, 29, 181, 194, 125, 106, 39, 249, 185, 201, 154, 9, 120,
    77, 228, 114, 166, 6, 191, 139, 98, 102, 221, 48, 253, 226, 152, 37, 179, 16, 145, 34, 136,
    54, 208, 148, 206, 143, 150, 219, 189, 241, 210, 19, 92, 131, 56, 70, 64, 30, 66, 182, 163,
    195, 72, 126, 110, 107, 58, 40, 84, 250, 133, 186, 61, 202, 94, 155, 159, 10, 21, 121, 43,
    78, 212, 229, 172, 115, 243, 167, 87, 7, 112, 192, 247, 140, 128, 99, 13, 103, 74, 222, 237,
    49, 197, 254, 24, 227, 165, 153, 119, 38, 184, 180, 124, 17, 68, 146, 217, 35, 32, 137, 46,
    55, 63, 209, 91, 149, 188, 207, 205, 144, 135, 151, 178, 220, 252, 190, 97, 242, 86, 211, 171,
    20, 42, 93, 158, 132, 60, 57, 83, 71, 109, 65, 162, 31, 45, 67, 216, 183, 123, 164, 118,
    196, 23, 73, 236, 127, 12, 111, 246, 108, 161, 59, 82, 41, 157, 85, 170, 251, 96, 134, 177,
    187, 204, 62, 90, 203, 89, 95, 176, 156, 169, 160, 81, 11, 245, 22, 235, 122, 117, 44, 215,
    79, 174, 213, 233, 230, 231, 173, 232, 116, 214, 244, 234, 168, 80, 88, 175,
};

static uint8_t times(uint8_t a, uint8_t b)
{
    return a == 0 || b == 0 ? 0 : power[logarithm[a] + logarithm[b]];
}

static uint8_t inverse(uint8_t a) { return power[255 - logarithm[a]]; }

/* x times each of eight bytes. */
static uint64_t times_x(uint64_t v)
{
    uint64_t c = v >> 7 & 0x0101010101010101u;
    return (v & 0x7F7F7F7F7F7F7F7Fu) << 1 ^ (c ^ c << 2 ^ c << 3 ^ c << 4);
}

/* RPC-1 */
static uint32_t mix(uint32_t h)
{
    h ^= h >> 16;
    h *= 0x85EBCA6Bu;
    h ^= h >> 13;
    h *= 0xC2B2AE35u;
    return h ^ h >> 16;
}

/* RPC-2 */
void cwr_row(uint32_t num_slices, uint32_t id, uint8_t exponents[CW_MAX_SLICES])
{
    uint32_t j = id - num_slices;
    for (uint32_t i = 0; i < num_slices; i += 8) {
        uint32_t h = mix(j * 32 + i / 8 + CODE_SEED);
        for (uint32_t n = 0; n < 8; n++) {
            exponents[i + n] = (uint8_t)(h >> (4 * n) & 15);
        }
    }
}

/* ---- Sums of slices --------------------------------------------------------- */

static void add_tile(uint64_t *sum, const uint8_t *b)
{
    uint64_t w[WORDS];
    memcpy(w, b, TILE);
    for (size_t i = 0; i < WORDS; i++) {
        sum[i] ^= w[i];
    }
}

/* The sum of n sums, the one with index e times x^e; it replaces the first. */
static void horner(uint64_t sum[][WORDS], size_t n)
{
    uint64_t r[WORDS];
    memcpy(r, sum[n - 1], TILE);
    for (size_t e = n - 1; e-- > 0;) {
        for (size_t i = 0; i < WORDS; i++) {
            r[i] = times_x(r[i]) ^ sum[e][i];
        }
    }
    memcpy(sum[0], r, TILE);
}

/* Adds to out the sum of x^a(j, i) times slice i, over the slices that are not NULL (RPC-4). */
static void add_repair(uint32_t num_slices, uint32_t id, const uint8_t *slice[], uint8_t *out)
{
    uint8_t exponents[CW_MAX_SLICES];
    cwr_row(num_slices, id, exponents);
    for (size_t at = 0; at < CW_SLICE_SIZE; at += TILE) {
        uint64_t sum[SUMS][WORDS];
        memset(sum, 0, sizeof sum);
        for (uint32_t i = 0; i < num_slices; i++) {
            if (slice[i] != NULL) {
                add_tile(sum[exponents[i]], slice[i] + at);
            }
        }
        horner(sum, SUMS);
        add_tile(sum[0], out + at);
        memcpy(out + at, sum[0], TILE);
    }
}

/* RPS-2 */
size_t cwr_slice_bytes(uint32_t num_slices, size_t last_bytes, uint32_t id)
{
    return num_slices == 1 || id == num_slices - 1 ? last_bytes : (size_t)CW_SLICE_SIZE;
}

size_t cwr_encode_slice(const uint8_t *chunk, size_t size, uint32_t id, uint8_t out[CW_SLICE_SIZE])
{
    const uint8_t *slice[CW_MAX_SLICES];
    uint8_t last[CW_SLICE_SIZE] = {0};
    uint32_t k = cw_num_slices(size);
    size_t last_bytes = cw_slice_bytes(size, k - 1);
    size_t n = cwr_slice_bytes(k, last_bytes, id);
    if (id < k) {
        memcpy(out, chunk + (size_t)id * CW_SLICE_SIZE, n);
        return n;
    }
    for (uint32_t i = 0; i + 1 < k; i++) {
        slice[i] = chunk + (size_t)i * CW_SLICE_SIZE;
    }
    memcpy(last, chunk + (size_t)(k - 1) * CW_SLICE_SIZE, last_bytes);
    slice[k - 1] = last;
    memset(out, 0, CW_SLICE_SIZE);
    add_repair(k, id, slice, out);
    return n;
}

/* ---- Decoder: the rank (RPC-5) ------------------------------------------------------ */

static bool is_repair(const cwr_decoder *d, uint32_t slot) { return d->id[slot] >= d->num_slices; }

static uint8_t *row_of(const cwr_decoder *d, uint32_t slot) { return d->block[slot] + CW_SLICE_SIZE; }

static uint8_t *fixed_take(void *owner, uint32_t slot, size_t size)
{
    (void)size;
    return (uint8_t *)owner + (size_t)slot * CWR_BLOCK;
}

static void fixed_give(void *owner, uint32_t slot, uint8_t *block)
{
    (void)owner, (void)slot, (void)block;
}

cw_memory cwr_fixed_memory(uint8_t *buffer)
{
    cw_memory m = {fixed_take, fixed_give, NULL};
    m.owner = buffer;
    return m;
}

void cwr_decoder_init(cwr_decoder *d, cw_memory memory)
{
    memset(d, 0, sizeof *d);
    d->memory = memory;
}

void cwr_decoder_release(cwr_decoder *d)
{
    for (uint32_t slot = 0; slot < d->count; slot++) {
        d->memory.give(d->memory.owner, slot, d->block[slot]);
    }
    d->count = 0;
    d->num_slices = 0;
}

bool cwr_decoder_has(const cwr_decoder *d, uint32_t id)
{
    for (uint32_t slot = 0; slot < d->count; slot++) {
        if (d->id[slot] == id) {
            return true;
        }
    }
    return false;
}

/* row -= factor * other, over the columns that are missing. */
static void subtract(const cwr_decoder *d, uint8_t *row, uint8_t factor, const uint8_t *other)
{
    for (uint32_t n = 0; factor != 0 && n < d->num_missing; n++) {
        uint8_t c = d->missing[n];
        row[c] = (uint8_t)(row[c] ^ times(factor, other[c]));
    }
}

/* The first missing column but `but` where the row is not 0, or NO_PIVOT. */
static uint32_t first_column(const cwr_decoder *d, const uint8_t *row, uint32_t but)
{
    for (uint32_t n = 0; n < d->num_missing; n++) {
        if (d->missing[n] != but && row[d->missing[n]] != 0) {
            return d->missing[n];
        }
    }
    return NO_PIVOT;
}

/* Makes the column the slot's pivot, and 0 in every other row. */
static void pivot_on(cwr_decoder *d, uint32_t slot, uint32_t column)
{
    uint8_t *row = row_of(d, slot);
    uint8_t factor = inverse(row[column]);
    for (uint32_t n = 0; n < d->num_missing; n++) {
        row[d->missing[n]] = times(factor, row[d->missing[n]]);
    }
    for (uint32_t other = 0; other < d->count; other++) {
        if (other != slot && is_repair(d, other)) {
            subtract(d, row_of(d, other), row_of(d, other)[column], row);
        }
    }
    d->pivot[slot] = (uint16_t)column;
}

static uint32_t slot_with_pivot(const cwr_decoder *d, uint32_t column)
{
    for (uint32_t slot = 0; slot < d->count; slot++) {
        if (is_repair(d, slot) && d->pivot[slot] == column) {
            return slot;
        }
    }
    return NO_PIVOT;
}

static void fill_block(const cwr_decoder *d, uint8_t *block, uint32_t id, const uint8_t *data)
{
    size_t n = cwr_slice_bytes(d->num_slices, d->last_bytes, id);
    memcpy(block, data, n);
    memset(block + n, 0, CW_SLICE_SIZE - n);
}

static uint8_t *take(const cwr_decoder *d, uint32_t slot, bool repair)
{
    return d->memory.take(d->memory.owner, slot, repair ? (size_t)CWR_BLOCK : (size_t)CW_SLICE_SIZE);
}

static void hold(cwr_decoder *d, uint8_t *block, uint32_t id, const uint8_t *data)
{
    fill_block(d, block, id, data);
    d->block[d->count] = block;
    d->id[d->count] = (uint16_t)id;
    d->count++;
}

static void hold_source(cwr_decoder *d, uint8_t *block, uint32_t i, const uint8_t *data)
{
    uint32_t n = 0;
    d->place[i] = (uint8_t)d->count;
    hold(d, block, i, data);
    while (d->missing[n] != i) {
        n++;
    }
    d->num_missing--;
    memmove(d->missing + n, d->missing + n + 1, d->num_missing - n);
}

/* A repair slice whose row, reduced, has something in the column. */
static void hold_repair(cwr_decoder *d, uint8_t *block, uint32_t id, const uint8_t *data, const uint8_t *row,
                        uint32_t column)
{
    uint32_t slot = d->count;
    hold(d, block, id, data);
    memcpy(row_of(d, slot), row, CW_MAX_SLICES);
    pivot_on(d, slot, column);
}

static void unreduced_row(const cwr_decoder *d, uint32_t id, uint8_t row[CW_MAX_SLICES])
{
    cwr_row(d->num_slices, id, row);
    for (uint32_t i = 0; i < d->num_slices; i++) {
        row[i] = power[row[i]];
    }
}

/* A source slice leaves its column known. If that was a pivot, the row needs another one; where
 * there is none the row was the slice's own. */
static cwr_added add_source(cwr_decoder *d, uint32_t i, const uint8_t *data)
{
    uint32_t slot = slot_with_pivot(d, i);
    uint32_t column = slot != NO_PIVOT ? first_column(d, row_of(d, slot), i) : NO_PIVOT;
    uint8_t *block;
    if (slot != NO_PIVOT && column == NO_PIVOT) {
        return CWR_DEPENDENT;
    }
    block = take(d, d->count, false);
    if (block == NULL) {
        return CWR_NO_MEMORY;
    }
    hold_source(d, block, i, data);
    if (slot != NO_PIVOT) {
        pivot_on(d, slot, column);
    }
    return CWR_ADDED;
}

static cwr_added add_repair_slice(cwr_decoder *d, uint32_t id, const uint8_t *data)
{
    uint8_t row[CW_MAX_SLICES];
    uint32_t column;
    uint8_t *block;
    unreduced_row(d, id, row);
    for (uint32_t slot = 0; slot < d->count; slot++) {
        if (is_repair(d, slot)) {
            subtract(d, row, row[d->pivot[slot]], row_of(d, slot));
        }
    }
    column = first_column(d, row, NO_PIVOT);
    if (column == NO_PIVOT) {
        return CWR_DEPENDENT;
    }
    block = take(d, d->count, true);
    if (block == NULL) {
        return CWR_NO_MEMORY;
    }
    hold_repair(d, block, id, data, row, column);
    return CWR_ADDED;
}

cwr_added cwr_decoder_add(cwr_decoder *d, uint32_t id, const uint8_t *data)
{
    if (cwr_decoder_has(d, id) || d->count == d->num_slices) {
        return CWR_DEPENDENT;
    }
    return id < d->num_slices ? add_source(d, id, data) : add_repair_slice(d, id, data);
}

bool cwr_decoder_begin(cwr_decoder *d, uint32_t num_slices, uint32_t last_bytes, uint32_t id, const uint8_t *data)
{
    uint8_t row[CW_MAX_SLICES];
    uint8_t *block = take(d, 0, id >= num_slices);
    if (block == NULL) {
        return false;
    }
    cwr_decoder_release(d);
    d->num_slices = num_slices;
    d->last_bytes = last_bytes;
    d->num_missing = num_slices;
    for (uint32_t i = 0; i < num_slices; i++) {
        d->missing[i] = (uint8_t)i;
    }
    if (id < num_slices) {
        hold_source(d, block, id, data);
    } else {
        unreduced_row(d, id, row);
        hold_repair(d, block, id, data, row, 0);
    }
    return true;
}

/* ---- Decoder: the data (section 3.3) ------------------------------------------------------ */

static void known_slices(const cwr_decoder *d, const uint8_t *slice[CW_MAX_SLICES])
{
    for (uint32_t i = 0; i < d->num_slices; i++) {
        slice[i] = d->block[d->place[i]];
    }
    for (uint32_t n = 0; n < d->num_missing; n++) {
        slice[d->missing[n]] = NULL;
    }
}

/* Takes the known slices out of each repair slice, and puts the coefficients of the others, one
 * for each missing column, where its row was. The equations are the slots. */
static uint32_t set_up(cwr_decoder *d, uint8_t equation[CW_MAX_SLICES])
{
    const uint8_t *slice[CW_MAX_SLICES];
    uint32_t m = 0;
    known_slices(d, slice);
    for (uint32_t slot = 0; slot < d->count; slot++) {
        uint8_t row[CW_MAX_SLICES];
        if (!is_repair(d, slot)) {
            continue;
        }
        add_repair(d->num_slices, d->id[slot], slice, d->block[slot]);
        unreduced_row(d, d->id[slot], row);
        for (uint32_t n = 0; n < d->num_missing; n++) {
            row_of(d, slot)[n] = row[d->missing[n]];
        }
        equation[m++] = (uint8_t)slot;
    }
    return m;
}

/* Puts an equation with something in column p at place p. There is one: the rank is full. */
static void choose_equation(const cwr_decoder *d, uint8_t *equation, uint32_t m, uint32_t p)
{
    uint32_t n = p;
    uint8_t chosen;
    while (n + 1 < m && row_of(d, equation[n])[p] == 0) {
        n++;
    }
    chosen = equation[n];
    equation[n] = equation[p];
    equation[p] = chosen;
}

/* Inverts the matrix of the equations in its place, in the order that it gives them. */
static void invert(const cwr_decoder *d, uint8_t *equation, uint32_t m)
{
    for (uint32_t p = 0; p < m; p++) {
        uint8_t *row;
        uint8_t factor;
        choose_equation(d, equation, m, p);
        row = row_of(d, equation[p]);
        factor = inverse(row[p]);
        row[p] = 1;
        for (uint32_t c = 0; c < m; c++) {
            row[c] = times(factor, row[c]);
        }
        for (uint32_t n = 0; n < m; n++) {
            uint8_t *other = row_of(d, equation[n]);
            uint8_t f = other[p];
            if (n == p || f == 0) {
                continue;
            }
            other[p] = 0;
            for (uint32_t c = 0; c < m; c++) {
                other[c] = (uint8_t)(other[c] ^ times(f, row[c]));
            }
        }
    }
}

/* The sum of the m tiles, each times its coefficient: one sum for each bit of the
 * coefficients. It is left in plane[0]. */
static void combine(const uint8_t *coefficient, uint8_t tile[][TILE], uint32_t m, uint64_t plane[8][WORDS])
{
    memset(plane, 0, 8 * sizeof plane[0]);
    for (uint32_t n = 0; n < m; n++) {
        uint64_t w[WORDS];
        memcpy(w, tile[n], TILE);
        for (unsigned bit = 0; bit < 8; bit++) {
            uint64_t mask = 0 - (uint64_t)(coefficient[n] >> bit & 1u);
            for (size_t i = 0; i < WORDS; i++) {
                plane[bit][i] ^= w[i] & mask;
            }
        }
    }
    horner(plane, 8);
}

/* The matrix times the data of the equations, in their place. */
static void multiply(const cwr_decoder *d, const uint8_t *equation, uint32_t m)
{
    uint8_t tile[CW_MAX_SLICES][TILE];
    for (size_t at = 0; at < CW_SLICE_SIZE; at += TILE) {
        for (uint32_t n = 0; n < m; n++) {
            memcpy(tile[n], d->block[equation[n]] + at, TILE);
        }
        for (uint32_t n = 0; n < m; n++) {
            uint64_t plane[8][WORDS];
            combine(row_of(d, equation[n]), tile, m, plane);
            memcpy(d->block[equation[n]] + at, plane[0], TILE);
        }
    }
}

/* Whether what counts as filled up came out as zeros; then it is zeros in any case. */
static bool clear_tail(const cwr_decoder *d)
{
    uint8_t *last = d->block[d->place[d->num_slices - 1]];
    uint8_t any = 0;
    for (uint32_t i = d->last_bytes; i < CW_SLICE_SIZE; i++) {
        any |= last[i];
        last[i] = 0;
    }
    return any == 0;
}

bool cwr_decoder_rebuild(cwr_decoder *d)
{
    uint8_t equation[CW_MAX_SLICES] = {0};
    uint32_t m = set_up(d, equation);
    invert(d, equation, m);
    multiply(d, equation, m);
    for (uint32_t n = 0; n < m; n++) {
        d->place[d->missing[n]] = equation[n];
    }
    d->num_missing = 0;
    return clear_tail(d);
}

const uint8_t *cwr_decoder_slice(const cwr_decoder *d, uint32_t i) { return d->block[d->place[i]]; }

bool cwr_decoder_agrees(const cwr_decoder *d, uint32_t id, const uint8_t *data)
{
    const uint8_t *slice[CW_MAX_SLICES];
    uint8_t expected[CW_SLICE_SIZE] = {0};
    known_slices(d, slice);
    add_repair(d->num_slices, id, slice, expected);
    return memcmp(expected, data, cwr_slice_bytes(d->num_slices, d->last_bytes, id)) == 0;
}
