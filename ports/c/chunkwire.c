/* The chunk protocol. See chunkwire.h, and spec/PROTOCOL.md for the sentences that the
 * comments name. */
#include "chunkwire.h"

#include <string.h>

#define END_CHECK 0x9908ACE2u /* FRM-6 */

static int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

static bool within(int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; }

/* TIM-1: a time before the latest one is the latest one. */
static cw_time observe(cw_time *latest, cw_time now)
{
    *latest = max_i64(*latest, now);
    return *latest;
}

/* ---- Bit packing (section 3) ------------------------------------------------ */

void cw_writer_init(cw_writer *w, uint8_t *data, size_t capacity)
{
    w->data = data;
    w->capacity = capacity;
    w->bit = 0;
    w->full = false;
}

/* BIT-1, BIT-2: least significant bit first, up to the end of a byte at a time. */
void cw_put_bits(cw_writer *w, uint32_t v, unsigned n)
{
    while (n > 0) {
        size_t byte = w->bit / 8;
        unsigned shift = (unsigned)(w->bit % 8);
        unsigned room = 8 - shift;
        unsigned take = n < room ? n : room;
        uint32_t low = v & ((1u << take) - 1u);
        if (byte >= w->capacity) {
            w->full = true;
            return;
        }
        if (shift == 0) {
            w->data[byte] = 0; /* BIT-7 */
        }
        w->data[byte] = (uint8_t)(w->data[byte] | (low << shift));
        v >>= take;
        n -= take;
        w->bit += take;
    }
}

/* BIT-3: the smallest n for which 2^n > high - low. */
static unsigned int_bits(uint32_t low, uint32_t high)
{
    unsigned n = 0;
    for (uint32_t range = high - low; range > 0; range >>= 1) {
        n++;
    }
    return n;
}

void cw_put_int(cw_writer *w, uint32_t v, uint32_t low, uint32_t high)
{
    cw_put_bits(w, v - low, int_bits(low, high));
}

void cw_put_bool(cw_writer *w, bool v) { cw_put_bits(w, v ? 1u : 0u, 1); } /* BIT-4 */

/* BIT-5; the bits are zero since their byte was begun. */
void cw_put_align(cw_writer *w) { w->bit = (w->bit + 7) / 8 * 8; }

/* BIT-6 */
void cw_put_bytes(cw_writer *w, const uint8_t *b, size_t n)
{
    cw_put_align(w);
    if (n > w->capacity - w->bit / 8) {
        w->full = true;
        return;
    }
    if (n > 0) {
        memcpy(w->data + w->bit / 8, b, n);
    }
    w->bit += 8 * n;
}

size_t cw_writer_bytes(const cw_writer *w) { return (w->bit + 7) / 8; }

void cw_reader_init(cw_reader *r, const uint8_t *data, size_t length)
{
    r->data = data;
    r->length = length;
    r->bit = 0;
}

static bool bits_left(const cw_reader *r, size_t n)
{
    size_t bytes = r->length - r->bit / 8; /* with the one begun */
    return bytes >= (r->bit % 8 + n + 7) / 8;
}

bool cw_get_bits(cw_reader *r, unsigned n, uint32_t *v)
{
    unsigned done = 0;
    *v = 0;
    if (!bits_left(r, n)) {
        return false;
    }
    while (done < n) {
        unsigned shift = (unsigned)(r->bit % 8);
        unsigned room = 8 - shift;
        unsigned take = n - done < room ? n - done : room;
        uint32_t low = ((uint32_t)r->data[r->bit / 8] >> shift) & ((1u << take) - 1u);
        *v |= low << done;
        done += take;
        r->bit += take;
    }
    return true;
}

bool cw_get_int(cw_reader *r, uint32_t low, uint32_t high, uint32_t *v)
{
    bool ok = cw_get_bits(r, int_bits(low, high), v);
    *v += low;
    return ok;
}

bool cw_get_align(cw_reader *r)
{
    uint32_t padding = 0;
    unsigned over = (unsigned)(r->bit % 8);
    if (over == 0) {
        return true;
    }
    if (r->data[r->bit / 8] >> over != 0) {
        return false;
    }
    return cw_get_bits(r, 8 - over, &padding);
}

const uint8_t *cw_get_bytes(cw_reader *r, size_t n)
{
    const uint8_t *b;
    if (n > r->length - r->bit / 8) {
        return NULL;
    }
    b = r->data + r->bit / 8;
    r->bit += 8 * n;
    return b;
}

static const uint32_t crc_table[256] = {
    0x00000000u, 0x77073096u, 0xee0e612cu, 0x990951bau, 0x076dc419u, 0x706af48fu, 0xe963a535u, 0x9e6495a3u,
    0x0edb8832u, 0x79dcb8a4u, 0xe0d5e91eu, 0x97d2d988u, 0x09b64c2bu, 0x7eb17cbdu, 0xe7b82d07u, 0x90bf1d91u,
    0x1db71064u, 0x6ab020f2u, 0xf3b97148u, 0x84be41deu, 0x1adad47du, 0x6ddde4ebu, 0xf4d4b551u, 0x83d385c7u,
    0x136c9856u, 0x646ba8c0u, 0xfd62f97au, 0x8a65c9ecu, 0x14015c4fu, 0x63066cd9u, 0xfa0f3d63u, 0x8d080df5u,
    0x3b6e20c8u, 0x4c69105eu, 0xd56041e4u, 0xa2677172u, 0x3c03e4d1u, 0x4b04d447u, 0xd20d85fdu, 0xa50ab56bu,
    0x35b5a8fau, 0x42b2986cu, 0xdbbbc9d6u, 0xacbcf940u, 0x32d86ce3u, 0x45df5c75u, 0xdcd60dcfu, 0xabd13d59u,
    0x26d930acu, 0x51de003au, 0xc8d75180u, 0xbfd06116u, 0x21b4f4b5u, 0x56b3c423u, 0xcfba9599u, 0xb8bda50fu,
    0x2802b89eu, 0x5f058808u, 0xc60cd9b2u, 0xb10be924u, 0x2f6f7c87u, 0x58684c11u, 0xc1611dabu, 0xb6662d3du,
    0x76dc4190u, 0x01db7106u, 0x98d220bcu, 0xefd5102au, 0x71b18589u, 0x06b6b51fu, 0x9fbfe4a5u, 0xe8b8d433u,
    0x7807c9a2u, 0x0f00f934u, 0x9609a88eu, 0xe10e9818u, 0x7f6a0dbbu, 0x086d3d2du, 0x91646c97u, 0xe6635c01u,
    0x6b6b51f4u, 0x1c6c6162u, 0x856530d8u, 0xf262004eu, 0x6c0695edu, 0x1b01a57bu, 0x8208f4c1u, 0xf50fc457u,
    0x65b0d9c6u, 0x12b7e950u, 0x8bbeb8eau, 0xfcb9887cu, 0x62dd1ddfu, 0x15da2d49u, 0x8cd37cf3u, 0xfbd44c65u,
    0x4db26158u, 0x3ab551ceu, 0xa3bc0074u, 0xd4bb30e2u, 0x4adfa541u, 0x3dd895d7u, 0xa4d1c46du, 0xd3d6f4fbu,
    0x4369e96au, 0x346ed9fcu, 0xad678846u, 0xda60b8d0u, 0x44042d73u, 0x33031de5u, 0xaa0a4c5fu, 0xdd0d7cc9u,
    0x5005713cu, 0x270241aau, 0xbe0b1010u, 0xc90c2086u, 0x5768b525u, 0x206f85b3u, 0xb966d409u, 0xce61e49fu,
    0x5edef90eu, 0x29d9c998u, 0xb0d09822u, 0xc7d7a8b4u, 0x59b33d17u, 0x2eb40d81u, 0xb7bd5c3bu, 0xc0ba6cadu,
    0xedb88320u, 0x9abfb3b6u, 0x03b6e20cu, 0x74b1d29au, 0xead54739u, 0x9dd277afu, 0x04db2615u, 0x73dc1683u,
    0xe3630b12u, 0x94643b84u, 0x0d6d6a3eu, 0x7a6a5aa8u, 0xe40ecf0bu, 0x9309ff9du, 0x0a00ae27u, 0x7d079eb1u,
    0xf00f9344u, 0x8708a3d2u, 0x1e01f268u, 0x6906c2feu, 0xf762575du, 0x806567cbu, 0x196c3671u, 0x6e6b06e7u,
    0xfed41b76u, 0x89d32be0u, 0x10da7a5au, 0x67dd4accu, 0xf9b9df6fu, 0x8ebeeff9u, 0x17b7be43u, 0x60b08ed5u,
    0xd6d6a3e8u, 0xa1d1937eu, 0x38d8c2c4u, 0x4fdff252u, 0xd1bb67f1u, 0xa6bc5767u, 0x3fb506ddu, 0x48b2364bu,
    0xd80d2bdau, 0xaf0a1b4cu, 0x36034af6u, 0x41047a60u, 0xdf60efc3u, 0xa867df55u, 0x316e8eefu, 0x4669be79u,
    0xcb61b38cu, 0xbc66831au, 0x256fd2a0u, 0x5268e236u, 0xcc0c7795u, 0xbb0b4703u, 0x220216b9u, 0x5505262fu,
    0xc5ba3bbeu, 0xb2bd0b28u, 0x2bb45a92u, 0x5cb36a04u, 0xc2d7ffa7u, 0xb5d0cf31u, 0x2cd99e8bu, 0x5bdeae1du,
    0x9b64c2b0u, 0xec63f226u, 0x756aa39cu, 0x026d930au, 0x9c0906a9u, 0xeb0e363fu, 0x72076785u, 0x05005713u,
    0x95bf4a82u, 0xe2b87a14u, 0x7bb12baeu, 0x0cb61b38u, 0x92d28e9bu, 0xe5d5be0du, 0x7cdcefb7u, 0x0bdbdf21u,
    0x86d3d2d4u, 0xf1d4e242u, 0x68ddb3f8u, 0x1fda836eu, 0x81be16cdu, 0xf6b9265bu, 0x6fb077e1u, 0x18b74777u,
    0x88085ae6u, 0xff0f6a70u, 0x66063bcau, 0x11010b5cu, 0x8f659effu, 0xf862ae69u, 0x616bffd3u, 0x166ccf45u,
    0xa00ae278u, 0xd70dd2eeu, 0x4e048354u, 0x3903b3c2u, 0xa7672661u, 0xd06016f7u, 0x4969474du, 0x3e6e77dbu,
    0xaed16a4au, 0xd9d65adcu, 0x40df0b66u, 0x37d83bf0u, 0xa9bcae53u, 0xdebb9ec5u, 0x47b2cf7fu, 0x30b5ffe9u,
    0xbdbdf21cu, 0xcabac28au, 0x53b39330u, 0x24b4a3a6u, 0xbad03605u, 0xcdd70693u, 0x54de5729u, 0x23d967bfu,
    0xb3667a2eu, 0xc4614ab8u, 0x5d681b02u, 0x2a6f2b94u, 0xb40bbe37u, 0xc30c8ea1u, 0x5a05df1bu, 0x2d02ef8du,
};

uint32_t cw_crc32(uint32_t crc, const uint8_t *b, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc = crc_table[(crc ^ b[i]) & 0xFFu] ^ (crc >> 8);
    }
    return ~crc;
}

/* ---- Sets of slice ids ------------------------------------------------------ */

bool cw_set_has(const cw_set *s, uint32_t k) { return (s->word[k / 32] >> (k % 32) & 1u) != 0; }
void cw_set_add(cw_set *s, uint32_t k) { s->word[k / 32] |= 1u << (k % 32); }
void cw_set_remove(cw_set *s, uint32_t k) { s->word[k / 32] &= ~(1u << (k % 32)); }
void cw_set_clear(cw_set *s) { memset(s, 0, sizeof *s); }

void cw_set_fill(cw_set *s, uint32_t n)
{
    cw_set_clear(s);
    for (uint32_t k = 0; k < n; k++) {
        cw_set_add(s, k);
    }
}

uint32_t cw_set_count(const cw_set *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < CW_MAX_SLICES / 32; i++) {
        for (uint32_t w = s->word[i]; w != 0; w &= w - 1) {
            n++;
        }
    }
    return n;
}

bool cw_set_empty(const cw_set *s)
{
    uint32_t any = 0;
    for (size_t i = 0; i < CW_MAX_SLICES / 32; i++) {
        any |= s->word[i];
    }
    return any == 0;
}

/* ---- Packets (sections 4 and 6.2) ------------------------------------------- */

uint32_t cw_num_slices(size_t size) { return (uint32_t)((size + CW_SLICE_SIZE - 1) / CW_SLICE_SIZE); }

size_t cw_slice_bytes(size_t size, uint32_t slice_id)
{
    size_t start = (size_t)slice_id * CW_SLICE_SIZE;
    return size - start < CW_SLICE_SIZE ? size - start : (size_t)CW_SLICE_SIZE;
}

static bool ids_valid(uint32_t chunk_id, uint32_t num_slices)
{
    return chunk_id <= 0xFFFFu && num_slices >= 1 && num_slices <= CW_MAX_SLICES; /* ENC-1, ENC-2 */
}

static bool slice_valid(const cw_slice *s)
{
    if (!ids_valid(s->chunk_id, s->num_slices) || s->slice_id >= s->num_slices) { /* ENC-3 */
        return false;
    }
    if (s->slice_id == s->num_slices - 1) { /* ENC-4 */
        return s->size >= 1 && s->size <= CW_SLICE_SIZE;
    }
    return s->size == CW_SLICE_SIZE;
}

static bool ack_valid(const cw_ack *a)
{
    if (!ids_valid(a->chunk_id, a->num_slices)) {
        return false;
    }
    for (uint32_t k = a->num_slices; k < CW_MAX_SLICES; k++) { /* ENC-5 */
        if (cw_set_has(&a->acked, k)) {
            return false;
        }
    }
    return true;
}

cw_error cw_check(const cw_packet *p)
{
    bool valid = false; /* ENC-6 */
    if (p->type == CW_SLICE) {
        valid = slice_valid(&p->as.slice);
    } else if (p->type == CW_ACK) {
        valid = ack_valid(&p->as.ack);
    }
    return valid ? CW_OK : CW_INVALID_FIELD;
}

/* ---- Codec (sections 5 and 6) ----------------------------------------------- */

const char *cw_error_name(cw_error e)
{
    switch (e) {
    case CW_OK: return "ok";
    case CW_TRUNCATED: return "truncated";
    case CW_CRC_MISMATCH: return "crc_mismatch";
    case CW_SLICE_ID_OUT_OF_RANGE: return "slice_id_out_of_range";
    case CW_NONZERO_PADDING: return "nonzero_padding";
    case CW_BAD_END_CHECK: return "bad_end_check";
    case CW_TRAILING_DATA: return "trailing_data";
    case CW_INVALID_FIELD: return "invalid_field";
    case CW_NO_SPACE: return "no_space";
    case CW_HAVE_OUT_OF_RANGE: return "have_out_of_range";
    }
    return "unknown";
}

/* SLC-1 */
static void put_slice(cw_writer *w, const cw_slice *s)
{
    cw_put_bits(w, s->chunk_id, 16);
    cw_put_int(w, s->slice_id, 0, 255);
    cw_put_int(w, s->num_slices, 1, 256);
    if (s->slice_id == s->num_slices - 1) {
        cw_put_int(w, (uint32_t)s->size, 1, 1024);
    }
    cw_put_bytes(w, s->data, s->size);
}

/* ACK-1 */
static void put_ack(cw_writer *w, const cw_ack *a)
{
    cw_put_bits(w, a->chunk_id, 16);
    cw_put_int(w, a->num_slices, 1, 256);
    for (uint32_t k = 0; k < a->num_slices; k++) {
        cw_put_bool(w, cw_set_has(&a->acked, k));
    }
}

static void put_body(cw_writer *w, const cw_packet *p)
{
    if (p->type == CW_SLICE) {
        put_slice(w, &p->as.slice);
    } else {
        put_ack(w, &p->as.ack);
    }
}

cw_error cw_encode_body(const cw_packet *p, uint8_t *out, size_t capacity, size_t *length)
{
    cw_writer w;
    cw_error e = cw_check(p);
    if (e != CW_OK) {
        return e;
    }
    cw_writer_init(&w, out, capacity);
    put_body(&w, p);
    *length = cw_writer_bytes(&w);
    return w.full ? CW_NO_SPACE : CW_OK;
}

/* FRM-2: rest is what stands behind the crc. */
static uint32_t frame_crc(uint32_t protocol_id, const uint8_t *rest, size_t n)
{
    uint8_t head[8] = {0};
    for (unsigned i = 0; i < 4; i++) {
        head[i] = (uint8_t)(protocol_id >> (8 * i));
    }
    return cw_crc32(cw_crc32(0, head, sizeof head), rest, n);
}

/* FRM-1, FRM-3 */
void cw_frame_begin(cw_writer *w, cw_type type)
{
    cw_put_bits(w, 0, 32);
    cw_put_bits(w, (uint32_t)type, 1);
}

/* FRM-1, FRM-2, FRM-6 */
void cw_frame_end(cw_writer *w, uint32_t protocol_id)
{
    cw_writer crc;
    cw_put_align(w);
    cw_put_bits(w, END_CHECK, 32);
    if (!w->full) {
        cw_writer_init(&crc, w->data, w->capacity);
        cw_put_bits(&crc, frame_crc(protocol_id, w->data + 4, cw_writer_bytes(w) - 4), 32);
    }
}

/* FRM-4 */
cw_error cw_encode_packet(uint32_t protocol_id, const cw_packet *p, uint8_t *out, size_t capacity,
                          size_t *length)
{
    cw_writer w;
    cw_error e = cw_check(p);
    if (e != CW_OK) {
        return e;
    }
    cw_writer_init(&w, out, capacity);
    cw_frame_begin(&w, p->type);
    put_body(&w, p);
    cw_frame_end(&w, protocol_id);
    *length = cw_writer_bytes(&w);
    return w.full ? CW_NO_SPACE : CW_OK;
}

/* Each of these leaves the reader at the place of the fault. */

static cw_error get_slice(cw_reader *r, cw_slice *s)
{
    size_t slice_id_at;
    uint32_t size = CW_SLICE_SIZE;
    if (!cw_get_bits(r, 16, &s->chunk_id)) { /* DEC-4 */
        return CW_TRUNCATED;
    }
    slice_id_at = r->bit;
    if (!cw_get_int(r, 0, 255, &s->slice_id) ||     /* DEC-5 */
        !cw_get_int(r, 1, 256, &s->num_slices)) {   /* DEC-6 */
        return CW_TRUNCATED;
    }
    if (s->slice_id >= s->num_slices) { /* DEC-7 */
        r->bit = slice_id_at;
        return CW_SLICE_ID_OUT_OF_RANGE;
    }
    if (s->slice_id == s->num_slices - 1 && !cw_get_int(r, 1, 1024, &size)) { /* DEC-8 */
        return CW_TRUNCATED;
    }
    if (!cw_get_align(r)) { /* DEC-10 */
        return CW_NONZERO_PADDING;
    }
    s->size = size;
    s->data = cw_get_bytes(r, size); /* DEC-11 */
    return s->data != NULL ? CW_OK : CW_TRUNCATED;
}

static cw_error get_ack(cw_reader *r, cw_ack *a)
{
    uint32_t bit = 0;
    if (!cw_get_bits(r, 16, &a->chunk_id) ||        /* DEC-4 */
        !cw_get_int(r, 1, 256, &a->num_slices) ||   /* DEC-6 */
        !bits_left(r, a->num_slices)) {             /* DEC-9 */
        return CW_TRUNCATED;
    }
    cw_set_clear(&a->acked);
    for (uint32_t k = 0; k < a->num_slices; k++) {
        if (cw_get_bits(r, 1, &bit) && bit == 1) {
            cw_set_add(&a->acked, k);
        }
    }
    return cw_get_align(r) ? CW_OK : CW_NONZERO_PADDING; /* DEC-10 */
}

static cw_error get_body(cw_reader *r, cw_type type, cw_packet *p)
{
    p->type = type;
    return type == CW_SLICE ? get_slice(r, &p->as.slice) : get_ack(r, &p->as.ack);
}

/* DEC-14 */
cw_error cw_get_end(const cw_reader *r) { return r->bit == 8 * r->length ? CW_OK : CW_TRAILING_DATA; }

cw_error cw_decode_body(cw_type type, const uint8_t *in, size_t length, cw_packet *p, size_t *place)
{
    cw_reader r;
    cw_error e;
    cw_reader_init(&r, in, length);
    e = get_body(&r, type, p);
    if (e == CW_OK) {
        e = cw_get_end(&r);
    }
    if (place != NULL) {
        *place = r.bit;
    }
    return e;
}

cw_error cw_get_frame(cw_reader *r, uint32_t protocol_id, cw_type *type)
{
    uint32_t crc = 0;
    uint32_t bit = 0;
    if (!cw_get_bits(r, 32, &crc)) { /* DEC-1 */
        return CW_TRUNCATED;
    }
    if (crc != frame_crc(protocol_id, r->data + 4, r->length - 4)) { /* DEC-2 */
        r->bit = 0;
        return CW_CRC_MISMATCH;
    }
    if (!cw_get_bits(r, 1, &bit)) { /* DEC-3 */
        return CW_TRUNCATED;
    }
    *type = bit == 0 ? CW_SLICE : CW_ACK;
    return CW_OK;
}

cw_error cw_get_frame_end(cw_reader *r)
{
    uint32_t end = 0;
    if (!cw_get_bits(r, 32, &end)) { /* DEC-12 */
        return CW_TRUNCATED;
    }
    if (end != END_CHECK) { /* DEC-13 */
        r->bit -= 32;
        return CW_BAD_END_CHECK;
    }
    return cw_get_end(r);
}

cw_error cw_decode_packet(uint32_t protocol_id, const uint8_t *in, size_t length, cw_packet *p,
                          size_t *place)
{
    cw_reader r;
    cw_type type = CW_SLICE;
    cw_error e;
    cw_reader_init(&r, in, length);
    e = cw_get_frame(&r, protocol_id, &type);
    if (e == CW_OK) {
        e = get_body(&r, type, p);
    }
    if (e == CW_OK) {
        e = cw_get_frame_end(&r);
    }
    if (place != NULL) {
        *place = r.bit;
    }
    return e;
}

/* ---- When acks go out (section 8.6) ------------------------------------------ */

#define ACK_GAP ((cw_time)2000) /* AKT-2 */
#define ACK_EVERY 16u           /* AKT-3 */

void cw_acks_init(cw_acks *a)
{
    memset(a, 0, sizeof *a);
    a->at = CW_NEVER;
}

/* AKT-1; a hold that is due is forgotten (RCV-10). */
void cw_acks_start(cw_acks *a)
{
    a->due &= ~(unsigned)CW_DUE_HOLD;
    a->unreported = 0;
    a->last_new = -1;
    a->after_gap = false;
}

/* A due time can only be moved forward (AKT-6). */
void cw_acks_due(cw_acks *a, unsigned which, cw_time at)
{
    a->due |= which;
    a->at = min_i64(a->at, at);
}

/* AKT-2 */
void cw_acks_due_soon(cw_acks *a, unsigned which, cw_time now)
{
    cw_acks_due(a, which, a->sent_ever ? max_i64(now, a->sent_at + ACK_GAP) : now);
}

/* AKT-3, AKT-4 */
void cw_acks_stored(cw_acks *a, cw_time now, uint32_t id)
{
    bool gap = (int)id != a->last_new + 1;
    a->unreported++;
    if (gap || a->after_gap || a->unreported >= ACK_EVERY) {
        cw_acks_due(a, CW_DUE_CURRENT, now);
    } else {
        cw_acks_due_soon(a, CW_DUE_CURRENT, now);
    }
    a->last_new = (int)id;
    a->after_gap = gap;
}

/* RCV-12, ACQ-3 */
void cw_acks_completed(cw_acks *a, cw_time now)
{
    a->due &= ~(unsigned)CW_DUE_CURRENT;
    cw_acks_due(a, CW_DUE_PREVIOUS, now);
}

/* RCV-16, AKT-5 */
unsigned cw_acks_take(cw_acks *a, cw_time now)
{
    unsigned which = (a->due & CW_DUE_PREVIOUS) != 0  ? (unsigned)CW_DUE_PREVIOUS
                     : (a->due & CW_DUE_CURRENT) != 0 ? (unsigned)CW_DUE_CURRENT
                                                      : a->due;
    if (which == 0 || now < a->at) {
        return 0;
    }
    a->due &= ~which;
    if (a->due == 0) {
        a->at = CW_NEVER;
        a->sent_at = now;
        a->sent_ever = true;
        a->unreported = 0;
    }
    return which;
}

/* ---- Receiver (section 8) --------------------------------------------------- */

/* 7.2, 8.2 */
static bool machine_config_allowed(uint32_t first_id, cw_time give_up)
{
    return first_id <= 0xFFFF && within(give_up, 1, CW_MAX_GIVE_UP);
}

static uint8_t *fixed_take(void *owner, uint32_t slice_id, size_t size)
{
    (void)size;
    return (uint8_t *)owner + (size_t)slice_id * CW_SLICE_SIZE;
}

static void fixed_give(void *owner, uint32_t slice_id, uint8_t *block)
{
    (void)owner;
    (void)slice_id;
    (void)block;
}

cw_memory cw_fixed_memory(uint8_t *buffer)
{
    cw_memory m = {fixed_take, fixed_give, NULL};
    m.owner = buffer;
    return m;
}

bool cw_receiver_init(cw_receiver *r, uint32_t first_id, cw_time give_up, cw_memory memory)
{
    memset(r, 0, sizeof *r);
    if (!machine_config_allowed(first_id, give_up)) {
        return false;
    }
    for (uint32_t k = 0; k < CW_MAX_SLICES; k++) {
        r->block[k] = NULL;
    }
    r->state = CW_WAITING;
    r->chunk_id = first_id;
    r->give_up = give_up;
    r->memory = memory;
    cw_acks_init(&r->acks);
    return true;
}

static uint32_t previous_id(const cw_receiver *r) { return (r->chunk_id + 0xFFFFu) & 0xFFFFu; }

static void release(cw_receiver *r)
{
    for (uint32_t k = 0; k < CW_MAX_SLICES; k++) {
        if (r->block[k] != NULL) {
            r->memory.give(r->memory.owner, k, r->block[k]);
            r->block[k] = NULL;
        }
    }
}

void cw_receiver_end(cw_receiver *r) { release(r); }

typedef enum {
    PREVIOUS,
    FOREIGN,
    EARLY,
    CONFLICTS,
    REPINS,
    REPINS_COMPLETES,
    DUPLICATE,
    COMPLETES,
    ADDS
} slice_guard;

/* RCV-7, for a slice whose num_slices is not the fixed one. */
static slice_guard pin_guard(const cw_receiver *r, cw_time now, const cw_slice *s)
{
    if (now - r->progress_at < r->give_up / 2) {
        return CONFLICTS;
    }
    return s->num_slices == 1 ? REPINS_COMPLETES : REPINS;
}

static slice_guard guard_of(const cw_receiver *r, cw_time now, const cw_slice *s)
{
    if (s->chunk_id == previous_id(r) && s->num_slices == r->previous_slices) { /* RCV-3, RCV-6 */
        return PREVIOUS;
    }
    if (s->chunk_id != r->chunk_id) { /* RCV-4 */
        return FOREIGN;
    }
    if (r->state == CW_READY) { /* RCV-5 */
        return EARLY;
    }
    if (r->state == CW_RECEIVING && s->num_slices != r->num_slices) {
        return pin_guard(r, now, s);
    }
    if (cw_set_has(&r->received, s->slice_id)) { /* RCV-8 */
        return DUPLICATE;
    }
    return cw_set_count(&r->received) + 1 == s->num_slices ? COMPLETES : ADDS;
}

/* RCV-10, AKT-1 */
static void receiver_start(cw_receiver *r, const cw_slice *s)
{
    release(r);
    r->num_slices = s->num_slices;
    cw_set_clear(&r->received);
    r->last_size = 0;
    r->held_slices = 0;
    cw_acks_start(&r->acks);
}

/* RCV-11 */
static void store(cw_receiver *r, cw_time now, const cw_slice *s, uint8_t *block)
{
    memcpy(block, s->data, s->size);
    r->block[s->slice_id] = block;
    cw_set_add(&r->received, s->slice_id);
    if (s->slice_id == s->num_slices - 1) {
        r->last_size = s->size;
    }
    r->progress_at = now;
    cw_acks_stored(&r->acks, now, s->slice_id);
}

/* RCV-12, ACQ-3 */
static void receiver_complete(cw_receiver *r, cw_time now)
{
    r->previous_slices = r->num_slices;
    r->num_slices = 0;
    cw_set_clear(&r->received);
    r->chunk_id = (r->chunk_id + 1) & 0xFFFFu;
    cw_acks_completed(&r->acks, now);
    r->state = CW_READY;
}

/* START, STORE, COMPLETE as the guard asks; false: no memory, and nothing happened. */
static bool take_slice(cw_receiver *r, cw_time now, const cw_slice *s, slice_guard g)
{
    uint8_t *block = r->memory.take(r->memory.owner, s->slice_id, s->size);
    if (block == NULL) {
        return false;
    }
    if (r->state == CW_WAITING || g == REPINS || g == REPINS_COMPLETES) {
        receiver_start(r, s);
    }
    r->state = CW_RECEIVING;
    store(r, now, s, block);
    if (g == COMPLETES || g == REPINS_COMPLETES) {
        receiver_complete(r, now);
    }
    return true;
}

cw_receiver_row cw_receiver_slice(cw_receiver *r, cw_time now, const cw_slice *s)
{
    static const cw_receiver_row rows[3][9] = {
        /* PREVIOUS FOREIGN EARLY      CONFLICTS  REPINS     R.COMPLETES DUPLICATE  COMPLETES  ADDS */
        {CW_R3,  CW_R4,  CW_R_NONE, CW_R_NONE, CW_R_NONE, CW_R_NONE, CW_R_NONE, CW_R1,     CW_R2},
        {CW_R11, CW_R12, CW_R_NONE, CW_R8,     CW_R9,     CW_R10,    CW_R7,     CW_R6,     CW_R5},
        {CW_R14, CW_R15, CW_R13,    CW_R_NONE, CW_R_NONE, CW_R_NONE, CW_R_NONE, CW_R_NONE, CW_R_NONE},
    };
    cw_receiver_state before = r->state;
    slice_guard g;
    now = observe(&r->latest, now);
    if (r->state == CW_RECEIVER_FAILED) {
        return CW_R26;
    }
    if (!slice_valid(s)) {
        return CW_R_NONE;
    }
    g = guard_of(r, now, s);
    switch (g) {
    case PREVIOUS: /* RCV-13 */
        cw_acks_due_soon(&r->acks, CW_DUE_PREVIOUS, now);
        break;
    case DUPLICATE:
        cw_acks_due_soon(&r->acks, CW_DUE_CURRENT, now);
        break;
    case EARLY: /* RCV-14 */
        r->held_slices = s->num_slices;
        cw_acks_due_soon(&r->acks, CW_DUE_HOLD, now);
        break;
    case CONFLICTS:
        r->conflicts++;
        break;
    case FOREIGN:
        break;
    case REPINS:
    case REPINS_COMPLETES:
    case COMPLETES:
    case ADDS:
        if (!take_slice(r, now, s, g)) {
            return CW_R_NONE;
        }
        break;
    }
    return rows[before][g];
}

/* While a chunk is ready previous_slices is its number of slices. */
size_t cw_receiver_size(const cw_receiver *r)
{
    if (r->state != CW_READY) {
        return 0;
    }
    return (size_t)(r->previous_slices - 1) * CW_SLICE_SIZE + r->last_size;
}

cw_receiver_row cw_receiver_read(cw_receiver *r, cw_time now, uint8_t *out, size_t capacity, size_t *size)
{
    static const cw_receiver_row refused[4] = {CW_R17, CW_R18, CW_R_NONE, CW_R27};
    size_t n = cw_receiver_size(r);
    (void)observe(&r->latest, now);
    *size = 0;
    if (r->state != CW_READY || capacity < n) {
        return refused[r->state];
    }
    for (uint32_t k = 0; k < r->previous_slices; k++) {
        memcpy(out + (size_t)k * CW_SLICE_SIZE, r->block[k], cw_slice_bytes(n, k));
    }
    *size = n;
    release(r);
    r->state = CW_WAITING;
    return CW_R16;
}

/* RCV-16 */
static void make_ack(cw_receiver *r, unsigned which, cw_ack *ack)
{
    cw_set_clear(&ack->acked);
    ack->chunk_id = r->chunk_id;
    if (which == CW_DUE_PREVIOUS) {
        ack->chunk_id = previous_id(r);
        ack->num_slices = r->previous_slices;
        cw_set_fill(&ack->acked, r->previous_slices);
    } else if (which == CW_DUE_CURRENT) {
        ack->num_slices = r->num_slices;
        ack->acked = r->received;
    } else {
        ack->num_slices = r->held_slices;
    }
}

/* R23, RCV-15 */
static void receiver_fail(cw_receiver *r)
{
    release(r);
    r->num_slices = 0;
    cw_set_clear(&r->received);
    cw_acks_init(&r->acks);
    r->state = CW_RECEIVER_FAILED;
}

cw_receiver_row cw_receiver_poll(cw_receiver *r, cw_time now, cw_ack *ack)
{
    static const cw_receiver_row acked[3] = {CW_R19, CW_R21, CW_R24};
    static const cw_receiver_row nothing[3] = {CW_R20, CW_R22, CW_R25};
    unsigned which;
    now = observe(&r->latest, now);
    if (r->state == CW_RECEIVER_FAILED) {
        return CW_R28;
    }
    if (r->state == CW_RECEIVING && now - r->progress_at >= r->give_up) { /* RCV-9 */
        receiver_fail(r);
        return CW_R23;
    }
    which = cw_acks_take(&r->acks, now);
    if (which == 0) {
        return nothing[r->state];
    }
    make_ack(r, which, ack);
    return acked[r->state];
}

/* RCV-17 */
cw_time cw_receiver_deadline(const cw_receiver *r)
{
    if (r->state == CW_RECEIVING) {
        return min_i64(r->acks.at, r->progress_at + r->give_up);
    }
    return r->acks.at;
}

/* ---- Sender (section 7) ----------------------------------------------------- */

bool cw_sender_init(cw_sender *s, uint32_t first_id, cw_time give_up, cw_scheduler *scheduler)
{
    memset(s, 0, sizeof *s);
    if (!machine_config_allowed(first_id, give_up)) {
        return false;
    }
    s->state = CW_IDLE;
    s->chunk = NULL;
    s->chunk_id = first_id;
    s->give_up = give_up;
    s->scheduler = scheduler;
    return true;
}

cw_sender_row cw_sender_submit(cw_sender *s, cw_time now, const uint8_t *chunk, size_t size)
{
    now = observe(&s->latest, now);
    if (s->state == CW_SENDING) {
        return CW_S3;
    }
    if (s->state == CW_SENDER_FAILED) {
        return CW_S4;
    }
    if (size < 1 || size > CW_MAX_CHUNK) { /* SND-1, LIM-1 */
        return CW_S2;
    }
    s->chunk = chunk; /* SND-10 */
    s->size = size;
    s->num_slices = cw_num_slices(size);
    cw_set_clear(&s->sent);
    cw_set_clear(&s->acked);
    s->heard_at = now;
    s->scheduler->start(s->scheduler, now, size);
    s->state = CW_SENDING;
    return CW_S1;
}

/* SND-6, SND-7 */
static cw_set news_of(const cw_sender *s, const cw_ack *ack)
{
    cw_set news;
    for (size_t i = 0; i < CW_MAX_SLICES / 32; i++) {
        news.word[i] = ack->acked.word[i] & s->sent.word[i] & ~s->acked.word[i];
    }
    return news;
}

/* SND-12 */
static void note(cw_sender *s, cw_time now, const cw_set *news)
{
    s->heard_at = now;
    for (size_t i = 0; i < CW_MAX_SLICES / 32; i++) {
        s->acked.word[i] |= news->word[i];
    }
    s->scheduler->news(s->scheduler, now, news);
}

static void drop_chunk(cw_sender *s)
{
    s->chunk = NULL;
    s->size = 0;
    s->num_slices = 0;
}

/* SND-13 */
static void sender_complete(cw_sender *s)
{
    s->chunk_id = (s->chunk_id + 1) & 0xFFFFu;
    drop_chunk(s);
    s->state = CW_IDLE;
}

cw_sender_row cw_sender_ack(cw_sender *s, cw_time now, const cw_ack *ack)
{
    cw_set news;
    now = observe(&s->latest, now);
    if (s->state != CW_SENDING) {
        return s->state == CW_IDLE ? CW_S5 : CW_S11;
    }
    if (ack->chunk_id != s->chunk_id || ack->num_slices != s->num_slices) { /* SND-5 */
        return CW_S6;
    }
    news = news_of(s, ack);
    if (!cw_set_empty(&news)) {
        note(s, now, &news);
        if (cw_set_count(&s->acked) < s->num_slices) {
            return CW_S9;
        }
        sender_complete(s);
        return CW_S10;
    }
    if (cw_set_empty(&ack->acked) && cw_set_empty(&s->acked) && !cw_set_empty(&s->sent)) { /* SND-8 */
        s->heard_at = now;                                                                 /* SND-11 */
        s->scheduler->hold(s->scheduler, now);
        return CW_S8;
    }
    return CW_S7;
}

/* SND-14 */
static void send_slice(cw_sender *s, uint32_t k, cw_slice *out)
{
    cw_set_add(&s->sent, k);
    out->chunk_id = s->chunk_id;
    out->slice_id = k;
    out->num_slices = s->num_slices;
    out->data = s->chunk + (size_t)k * CW_SLICE_SIZE;
    out->size = cw_slice_bytes(s->size, k);
}

cw_sender_row cw_sender_poll(cw_sender *s, cw_time now, cw_slice *slice)
{
    int k;
    now = observe(&s->latest, now);
    if (s->state != CW_SENDING) {
        return s->state == CW_IDLE ? CW_S12 : CW_S16;
    }
    if (now - s->heard_at >= s->give_up) { /* SND-9, SND-15 */
        drop_chunk(s);
        s->state = CW_SENDER_FAILED;
        return CW_S15;
    }
    k = s->scheduler->next(s->scheduler, now);
    if (k < 0 || (uint32_t)k >= s->num_slices) {
        return CW_S14;
    }
    send_slice(s, (uint32_t)k, slice);
    return CW_S13;
}

/* SND-16 */
cw_time cw_sender_deadline(const cw_sender *s)
{
    if (s->state != CW_SENDING) {
        return CW_NEVER;
    }
    return min_i64(s->scheduler->deadline(s->scheduler), s->heard_at + s->give_up);
}

/* ---- The base algorithm (appendix G) ----------------------------------------- */

#define MILLION ((int64_t)1000000)
#define MS ((cw_time)1000)
#define MIN_RATE ((int64_t)1066)
#define MAX_RATE ((int64_t)1000000000)
#define LARGEST_COST (CW_MAX_DATAGRAM + CW_HEADER)

static bool in_flight(const cw_base *b, uint32_t k)
{
    return cw_set_has(&b->unacked, k) && !cw_set_has(&b->due, k);
}

static bool resent(const cw_base *b, uint32_t k) { return b->first[k] != b->last[k]; }

/* SPC-3 */
static void enter_due(cw_base *b, cw_time now, uint32_t k)
{
    if (cw_set_empty(&b->due)) {
        b->spaced_until = max_i64(b->spaced_until, now);
    }
    cw_set_add(&b->due, k);
}

/* The budget (9.5) */

/* BUD-2, in millionths of a byte: the frame's figures are those of section 5. */
static int64_t cost(const cw_base *b, uint32_t k)
{
    int64_t frame = k == b->num_slices - 1 ? 14 : 13;
    return (frame + (int64_t)cw_slice_bytes(b->size, k) + CW_HEADER) * MILLION;
}

/* BUD-3 */
static void time_pays(cw_base *b, cw_time now)
{
    int64_t e = b->profile.rate * min_i64(now - b->paid_at, 1000 * MILLION);
    int64_t cap = b->profile.cap * MILLION;
    b->paid_at = now;
    b->by_time = min_i64(b->by_time + e, cap);
    b->left = min_i64(b->left + e, cap);
}

static bool covers(const cw_base *b, int64_t c) { return b->profile.rate == 0 || b->left >= c; }

/* BUD-4 */
static cw_time covered_at(const cw_base *b, int64_t c)
{
    if (covers(b, c)) {
        return b->paid_at;
    }
    return b->paid_at + (c - b->left + b->profile.rate - 1) / b->profile.rate;
}

/* BUD-6 */
static void acks_pay(cw_base *b, const cw_set *news)
{
    int64_t a = 0;
    if (!b->profile.acks_pay) {
        return;
    }
    for (uint32_t k = 0; k < b->num_slices; k++) {
        if (cw_set_has(news, k)) {
            a += cost(b, k);
        }
    }
    if (a > b->by_time) {
        b->left = min_i64(b->left + a - b->by_time, b->profile.cap * MILLION);
    }
    b->by_time = 0;
}

/* The round trip (9.3) */

#define LONGEST_SAMPLE ((cw_time)1 << 40)

/* RTT-7 */
static cw_time since(cw_time now, cw_time at) { return min_i64(now - at, LONGEST_SAMPLE); }

/* RTT-6 */
static void use_bound(cw_base *b)
{
    if (b->known == CW_MEASURED || b->bound == CW_NEVER) {
        return;
    }
    b->srtt = b->bound;
    b->rttvar = b->bound / 16;
    b->known = CW_KNOWN_BOUND;
}

/* RTT-5; srtt * 3 / 2 - srtt is srtt / 2. */
static void smooth(cw_base *b, cw_time r)
{
    cw_time d = min_i64(r - b->srtt, b->srtt / 2 + MS);
    if (d >= 0) {
        b->rttvar += (d - b->rttvar) / 4;
        b->srtt += d / 8;
    } else {
        b->rttvar += (min_i64(-d, b->rttvar) - b->rttvar) / 4;
        b->srtt += d / 4;
    }
}

static bool eligible_any(const cw_base *b, cw_time now, uint32_t k)
{
    (void)now;
    return b->first[k] > b->moved;
}

static bool eligible_once(const cw_base *b, cw_time now, uint32_t k)
{
    return eligible_any(b, now, k) && !resent(b, k);
}

static bool plausible(const cw_base *b, cw_time now, uint32_t k) { return now - b->last_at[k] >= b->min_rtt; }

static bool eligible_slow(const cw_base *b, cw_time now, uint32_t k)
{
    return eligible_any(b, now, k) && plausible(b, now, k);
}

/* The eligible newly acked slice with the largest last[k], or -1. */
static int latest_of(const cw_base *b, cw_time now, const cw_set *news,
                     bool (*eligible)(const cw_base *, cw_time, uint32_t))
{
    int best = -1;
    for (uint32_t k = 0; k < b->num_slices; k++) {
        if (cw_set_has(news, k) && eligible(b, now, k) && (best < 0 || b->last[k] > b->last[best])) {
            best = (int)k;
        }
    }
    return best;
}

/* RTT-2 */
static void first_measure(cw_base *b, cw_time r)
{
    b->srtt = r;
    b->rttvar = r / 8;
    b->min_rtt = r;
    b->known = CW_MEASURED;
}

/* RTT-1 */
static void take_sample(cw_base *b, cw_time now, const cw_set *news)
{
    int k = latest_of(b, now, news, eligible_once);
    if (k >= 0) { /* RTT-2 */
        cw_time r = since(now, b->last_at[k]);
        if (b->known != CW_MEASURED) {
            first_measure(b, r);
            return;
        }
        b->min_rtt = min_i64(b->min_rtt, r);
        smooth(b, r);
    } else if (b->known == CW_MEASURED) { /* RTT-3 */
        k = latest_of(b, now, news, eligible_slow);
        if (k >= 0) {
            smooth(b, since(now, b->last_at[k]));
        }
    } else { /* RTT-4 */
        k = latest_of(b, now, news, eligible_any);
        if (k >= 0) {
            b->bound = min_i64(b->bound, since(now, b->first_at[k]));
        }
    }
}

/* Lost slices (9.4) */

/* GAP-1 */
static void note_arrival(cw_base *b, cw_time now, uint32_t k)
{
    bool latest = !resent(b, k) || (b->known == CW_MEASURED && plausible(b, now, k));
    b->arrived = max_u64(b->arrived, latest ? b->last[k] : b->first[k]);
    b->at_best = max_u64(b->at_best, b->last[k]);
}

/* GAP-2; last is 0 for a slice that was never sent. */
static void find_lost(cw_base *b, cw_time now)
{
    for (uint32_t k = 0; k < b->num_slices; k++) {
        if (in_flight(b, k) && b->last[k] + 2 <= b->arrived) {
            enter_due(b, now, k);
        }
    }
}

/* V of TMR-2 */
static cw_time variation(const cw_base *b) { return max_i64(max_i64(5 * MS, b->srtt / 8), 4 * b->rttvar); }

/* TMR-2 */
static cw_time base_delay(const cw_base *b)
{
    if (b->profile.resend_delay > 0) {
        return b->profile.resend_delay;
    }
    if (b->known == CW_KNOWN_NOTHING) {
        return 250 * MS;
    }
    return min_i64(b->srtt + variation(b), 3000 * MS);
}

/* TMR-3 */
static cw_time margin(const cw_base *b)
{
    if (b->profile.resend_delay > 0 || b->known == CW_KNOWN_NOTHING) {
        return 0;
    }
    return min_i64(variation(b), base_delay(b));
}

/* TMR-5; only delays below 250 ms are shifted, so nothing overflows. */
static cw_time resend_delay(const cw_base *b)
{
    cw_time base = base_delay(b);
    if (b->backoff == 0) {
        return base;
    }
    return base >= 250 * MS ? max_i64(base / 8, 250 * MS) : min_i64(base << b->backoff, 250 * MS);
}

/* H of TMR-6 */
static cw_time hold_delay(const cw_base *b)
{
    cw_time least = b->known == CW_KNOWN_NOTHING ? 250 * MS : max_i64(b->srtt, 2 * MS);
    if (b->profile.resend_delay > 0) {
        return b->profile.resend_delay;
    }
    return min_i64(max_i64(least, (b->sent_at - b->held_at) / 4), 250 * MS);
}

/* TMR-1, TMR-6 */
static cw_time timer_at(const cw_base *b)
{
    if (b->held) {
        return max_i64(b->sent_at, b->held_at) + hold_delay(b);
    }
    return max_i64(b->sent_at + resend_delay(b), b->news_at + margin(b));
}

/* The largest slice of unacked below `below`, or of all; unacked is not empty. */
static uint32_t probe_below(const cw_base *b, uint32_t below)
{
    for (uint32_t k = below; k > 0; k--) {
        if (cw_set_has(&b->unacked, k - 1)) {
            return k - 1;
        }
    }
    return probe_below(b, b->num_slices);
}

/* TMR-4 */
static void timer_ran_out(cw_base *b, cw_time now)
{
    uint32_t probes;
    uint32_t unacked = cw_set_count(&b->unacked);
    b->arrived = b->at_best;
    find_lost(b, now);
    b->backoff = b->backoff < 3 ? b->backoff + 1 : 3;
    probes = b->held ? 1 : 2u << (b->backoff - 1);
    for (uint32_t i = 0; i < probes && i < unacked; i++) {
        b->probe = probe_below(b, b->probe);
        enter_due(b, now, b->probe);
    }
}

/* The first slice of due from the cursor on, or else the first; due is not empty. */
static uint32_t next_due(const cw_base *b)
{
    for (uint32_t k = b->cursor; k < b->num_slices; k++) {
        if (cw_set_has(&b->due, k)) {
            return k;
        }
    }
    for (uint32_t k = 0; k < b->cursor; k++) {
        if (cw_set_has(&b->due, k)) {
            return k;
        }
    }
    return 0;
}

/* SCH-7, SPC-2 */
static void base_sent(cw_base *b, cw_time now, uint32_t k)
{
    b->count++;
    if (b->first[k] == 0) {
        b->first[k] = b->count;
        b->first_at[k] = now;
    }
    b->last[k] = b->count;
    b->last_at[k] = now;
    b->sent_at = now;
    cw_set_remove(&b->due, k);
    b->cursor = k + 1;
    b->spaced_until = max_i64(b->spaced_until, now - 20 * MS) + b->profile.spacing;
}

/* The functions of cw_scheduler, which is the first member of cw_base. */

/* SCH-5 */
static void base_start(cw_scheduler *scheduler, cw_time now, size_t chunk_size)
{
    cw_base *b = (cw_base *)scheduler;
    use_bound(b);
    b->size = chunk_size;
    b->num_slices = cw_num_slices(chunk_size);
    cw_set_fill(&b->unacked, b->num_slices);
    b->due = b->unacked;
    b->cursor = 0;
    b->probe = b->num_slices;
    b->count = b->arrived = b->at_best = b->moved = 0;
    memset(b->first, 0, sizeof b->first);
    memset(b->last, 0, sizeof b->last);
    b->sent_at = b->news_at = now;
    b->held = false;
    b->backoff = 0;
    b->spaced_until = max_i64(b->spaced_until, now);
    time_pays(b, now);
    b->left = max_i64(b->left, b->profile.burst * MILLION); /* BUD-5 */
    b->by_time = 0;
}

/* SCH-10 */
static void base_hold(cw_scheduler *scheduler, cw_time now)
{
    cw_base *b = (cw_base *)scheduler;
    if (!b->held) {
        b->held = true;
        b->held_at = now; /* TMR-6 */
    }
    cw_set_clear(&b->due);
}

/* The end of a hold in SCH-8: what was never sent is due again. */
static void release_held(cw_base *b, cw_time now)
{
    if (!b->held) {
        return;
    }
    b->held = false;
    for (uint32_t k = 0; k < b->num_slices; k++) {
        if (cw_set_has(&b->unacked, k) && b->first[k] == 0) {
            enter_due(b, now, k);
        }
    }
}

/* SCH-8 */
static void base_news(cw_scheduler *scheduler, cw_time now, const cw_set *news)
{
    cw_base *b = (cw_base *)scheduler;
    b->news_at = now;
    b->backoff = 0;
    b->probe = b->num_slices;
    take_sample(b, now, news);
    for (uint32_t k = 0; k < b->num_slices; k++) {
        if (cw_set_has(news, k)) {
            note_arrival(b, now, k);
            cw_set_remove(&b->unacked, k);
            cw_set_remove(&b->due, k);
        }
    }
    release_held(b, now);
    find_lost(b, now);
    time_pays(b, now);
    acks_pay(b, news);
}

/* SCH-6 */
static int base_next(cw_scheduler *scheduler, cw_time now)
{
    cw_base *b = (cw_base *)scheduler;
    uint32_t k;
    if (cw_set_empty(&b->due) && !cw_set_empty(&b->unacked) && now >= timer_at(b)) {
        timer_ran_out(b, now);
    }
    if (cw_set_empty(&b->due) || now < b->spaced_until) { /* SPC-1 */
        return -1;
    }
    k = next_due(b);
    time_pays(b, now);
    if (!covers(b, cost(b, k))) {
        return -1;
    }
    if (b->profile.rate != 0) {
        b->left -= cost(b, k);
    }
    base_sent(b, now, k);
    return (int)k;
}

/* SCH-9 */
static cw_time base_deadline(const cw_scheduler *scheduler)
{
    const cw_base *b = (const cw_base *)scheduler;
    if (!cw_set_empty(&b->due)) {
        return max_i64(b->spaced_until, covered_at(b, cost(b, next_due(b))));
    }
    return cw_set_empty(&b->unacked) ? CW_NEVER : timer_at(b);
}

/* BUD-1 */
static bool profile_allowed(const cw_profile *p)
{
    return (p->rate == 0 || within(p->rate, MIN_RATE, MAX_RATE)) && within(p->cap, LARGEST_COST, MAX_RATE) &&
           within(p->burst, 0, p->cap) && within(p->spacing, 0, CW_MAX_GIVE_UP) &&
           within(p->resend_delay, 0, CW_MAX_GIVE_UP);
}

bool cw_base_init(cw_base *b, cw_profile profile)
{
    memset(b, 0, sizeof *b);
    if (!profile_allowed(&profile)) {
        return false;
    }
    b->scheduler.start = base_start;
    b->scheduler.news = base_news;
    b->scheduler.hold = base_hold;
    b->scheduler.next = base_next;
    b->scheduler.deadline = base_deadline;
    b->profile = profile;
    b->known = CW_KNOWN_NOTHING;
    b->bound = CW_NEVER;
    b->left = profile.cap * MILLION;
    return true;
}

void cw_base_forget_path(cw_base *b)
{
    b->known = CW_KNOWN_NOTHING;
    b->bound = CW_NEVER;
    b->srtt = b->rttvar = b->min_rtt = 0;
    b->moved = b->count;
}

/* The table of appendix G.5. */

cw_profile cw_profile_burst(void)
{
    cw_profile p = {125000, 256 * LARGEST_COST, 256 * LARGEST_COST, true, 85, 0};
    return p;
}

cw_profile cw_profile_fixed(int64_t rate)
{
    cw_profile p = {0, 0, 0, false, 0, 0};
    p.rate = rate;
    p.cap = max_i64(16 * LARGEST_COST, p.rate / 50);
    return p;
}

cw_profile cw_profile_article(int64_t rate)
{
    cw_profile p = cw_profile_fixed(rate);
    p.resend_delay = 100 * MS;
    return p;
}
