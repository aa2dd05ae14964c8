/* The packets of repair slices (section 4). See chunkwire_repair.h. */
#include "chunkwire_repair.h"

static bool within(uint32_t v, uint32_t low, uint32_t high) { return v >= low && v <= high; }

/* ENC-1, ENC-2, RPE-1 to RPE-3 */
static bool slice_valid(const cwr_slice *s)
{
    return s->chunk_id <= 0xFFFF && s->id < CWR_IDS && within(s->num_slices, 1, CW_MAX_SLICES) &&
           within(s->last_bytes, 1, CW_SLICE_SIZE) &&
           s->size == cwr_slice_bytes(s->num_slices, s->last_bytes, s->id);
}

/* ENC-1, ENC-2, RPE-4, RPE-5 */
static bool ack_valid(const cwr_ack *a)
{
    return a->chunk_id <= 0xFFFF && within(a->num_slices, 1, CW_MAX_SLICES) && a->have <= a->num_slices &&
           a->top < CWR_IDS;
}

cw_error cwr_check(const cwr_packet *p)
{
    bool valid = false; /* ENC-6 */
    if (p->type == CW_SLICE) {
        valid = slice_valid(&p->as.slice);
    } else if (p->type == CW_ACK) {
        valid = ack_valid(&p->as.ack);
    }
    return valid ? CW_OK : CW_INVALID_FIELD;
}

/* RPS-1 */
static void put_slice(cw_writer *w, const cwr_slice *s)
{
    cw_put_bits(w, s->chunk_id, 16);
    cw_put_bits(w, s->id, 13);
    cw_put_int(w, s->num_slices, 1, CW_MAX_SLICES);
    cw_put_int(w, s->last_bytes, 1, CW_SLICE_SIZE);
    cw_put_bytes(w, s->data, s->size);
}

/* RPA-1 */
static void put_ack(cw_writer *w, const cwr_ack *a)
{
    cw_put_bits(w, a->chunk_id, 16);
    cw_put_int(w, a->num_slices, 1, CW_MAX_SLICES);
    cw_put_int(w, a->have, 0, CW_MAX_SLICES);
    cw_put_bits(w, a->top, 13);
}

static void put_body(cw_writer *w, const cwr_packet *p)
{
    if (p->type == CW_SLICE) {
        put_slice(w, &p->as.slice);
    } else {
        put_ack(w, &p->as.ack);
    }
}

cw_error cwr_encode_body(const cwr_packet *p, uint8_t *out, size_t capacity, size_t *length)
{
    cw_writer w;
    cw_error e = cwr_check(p);
    if (e != CW_OK) {
        return e;
    }
    cw_writer_init(&w, out, capacity);
    put_body(&w, p);
    *length = cw_writer_bytes(&w);
    return w.full ? CW_NO_SPACE : CW_OK;
}

cw_error cwr_encode_packet(uint32_t protocol_id, const cwr_packet *p, uint8_t *out, size_t capacity, size_t *length)
{
    cw_writer w;
    cw_error e = cwr_check(p);
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

/* Each of these leaves the reader at the place of the fault (RPD-6). */

/* DEC-4, RPD-1, DEC-6, RPD-2, DEC-10, DEC-11 */
static cw_error get_slice(cw_reader *r, cwr_slice *s)
{
    if (!cw_get_bits(r, 16, &s->chunk_id) || !cw_get_bits(r, 13, &s->id) ||
        !cw_get_int(r, 1, CW_MAX_SLICES, &s->num_slices) || !cw_get_int(r, 1, CW_SLICE_SIZE, &s->last_bytes)) {
        return CW_TRUNCATED;
    }
    if (!cw_get_align(r)) {
        return CW_NONZERO_PADDING;
    }
    s->size = cwr_slice_bytes(s->num_slices, s->last_bytes, s->id);
    s->data = cw_get_bytes(r, s->size);
    return s->data != NULL ? CW_OK : CW_TRUNCATED;
}

/* DEC-4, DEC-6, RPD-3 to RPD-5, DEC-10 */
static cw_error get_ack(cw_reader *r, cwr_ack *a)
{
    size_t have_at;
    if (!cw_get_bits(r, 16, &a->chunk_id) || !cw_get_int(r, 1, CW_MAX_SLICES, &a->num_slices)) {
        return CW_TRUNCATED;
    }
    have_at = r->bit;
    if (!cw_get_int(r, 0, CW_MAX_SLICES, &a->have)) {
        return CW_TRUNCATED;
    }
    if (a->have > a->num_slices) {
        r->bit = have_at;
        return CW_HAVE_OUT_OF_RANGE;
    }
    if (!cw_get_bits(r, 13, &a->top)) {
        return CW_TRUNCATED;
    }
    return cw_get_align(r) ? CW_OK : CW_NONZERO_PADDING;
}

static cw_error get_body(cw_reader *r, cw_type type, cwr_packet *p)
{
    p->type = type;
    return type == CW_SLICE ? get_slice(r, &p->as.slice) : get_ack(r, &p->as.ack);
}

static cw_error finish(const cw_reader *r, cw_error e, size_t *place)
{
    if (place != NULL) {
        *place = r->bit;
    }
    return e;
}

cw_error cwr_decode_body(cw_type type, const uint8_t *in, size_t length, cwr_packet *p, size_t *place)
{
    cw_reader r;
    cw_error e;
    cw_reader_init(&r, in, length);
    e = get_body(&r, type, p);
    if (e == CW_OK) {
        e = cw_get_end(&r);
    }
    return finish(&r, e, place);
}

cw_error cwr_decode_packet(uint32_t protocol_id, const uint8_t *in, size_t length, cwr_packet *p, size_t *place)
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
    return finish(&r, e, place);
}

/* RPI-1 */
uint32_t cwr_protocol_id(uint32_t protocol_id, uint32_t lanes, uint32_t lane)
{
    return protocol_id + 256 + 16 * (lanes - 1) + lane;
}

/* ---- Numbers of transmissions (RPN-2, RPN-5) ----------------------------------------------- */

uint32_t cwr_id(uint32_t num_slices, uint64_t number)
{
    return number < CWR_IDS ? (uint32_t)number
                            : num_slices + (uint32_t)((number - num_slices) % (CWR_IDS - num_slices));
}

int64_t cwr_number(uint32_t num_slices, uint32_t id, uint64_t most)
{
    if (id > most) {
        return -1;
    }
    return id < num_slices ? (int64_t)id : (int64_t)(most - (most - id) % (CWR_IDS - num_slices));
}
