/* The receiver of repair slices (section 6). See chunkwire_repair.h. */
#include "chunkwire_repair.h"

#include <string.h>

enum { SPARE = CW_MAX_SLICES }; /* the slot of a spare equation */

static cw_time later(cw_time a, cw_time b) { return a > b ? a : b; }

static uint32_t previous_id(const cwr_receiver *r) { return (r->chunk_id + 0xFFFFu) & 0xFFFFu; }

bool cwr_receiver_init(cwr_receiver *r, uint32_t first_id, cw_time give_up, cw_memory memory)
{
    memset(r, 0, sizeof *r);
    if (first_id > 0xFFFF || give_up < 1 || give_up > CW_MAX_GIVE_UP) {
        return false;
    }
    r->state = CW_WAITING;
    r->chunk_id = first_id;
    r->give_up = give_up;
    cw_acks_init(&r->acks);
    cwr_decoder_init(&r->decoder, memory);
    r->spare = NULL;
    return true;
}

/* ---- Spare equations (RPR-11) ----------------------------------------------- */

static void drop_spare(cwr_receiver *r)
{
    cw_memory m = r->decoder.memory;
    if (r->spare != NULL) {
        m.give(m.owner, SPARE, r->spare);
        r->spare = NULL;
    }
}

/* Keeps the first of a chunk, if there is memory. */
static void keep_spare(cwr_receiver *r, const cwr_slice *s)
{
    cw_memory m = r->decoder.memory;
    if (r->spare != NULL || s->id < s->num_slices) {
        return;
    }
    r->spare = m.take(m.owner, SPARE, CW_SLICE_SIZE);
    if (r->spare != NULL) {
        memcpy(r->spare, s->data, s->size);
        r->spare_id = s->id;
    }
}

static void compare(cwr_receiver *r, uint32_t id, const uint8_t *data)
{
    if (!cwr_decoder_agrees(&r->decoder, id, data)) {
        r->inconsistent++;
    }
}

/* The first that comes while the chunk waits. */
static void compare_late(cwr_receiver *r, const cwr_slice *s)
{
    if (r->state != CW_READY || r->compared || s->id < s->num_slices || s->last_bytes != r->decoder.last_bytes ||
        cwr_decoder_has(&r->decoder, s->id)) {
        return;
    }
    r->compared = true;
    compare(r, s->id, s->data);
}

/* ---- Slices ----------------------------------------------------------------- */

typedef enum {
    PREVIOUS,
    FOREIGN,
    EARLY,
    CONFLICTS,
    REPLACES,
    REPLACES_COMPLETES,
    DUPLICATE,
    STORED, /* dependent, completes or adds: the decoder knows */
    GUARDS
} slice_guard;

/* RPR-4, for a slice that is not of the chunk as it is known. */
static slice_guard conflict_guard(const cwr_receiver *r, cw_time now, const cwr_slice *s)
{
    if (now - r->progress_at < r->give_up / 2) {
        return CONFLICTS;
    }
    return s->num_slices == 1 ? REPLACES_COMPLETES : REPLACES;
}

/* RPR-3 */
static slice_guard guard_of(const cwr_receiver *r, cw_time now, const cwr_slice *s)
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
    if (r->state == CW_WAITING) {
        return STORED;
    }
    if (s->num_slices != r->num_slices || s->last_bytes != r->last_bytes) {
        return conflict_guard(r, now, s);
    }
    return cwr_decoder_has(&r->decoder, s->id) ? DUPLICATE : STORED;
}

/* NOTE TOP (RPR-6): the number of an id is the one nearest to the top (RPN-3). */
static void note_top(cwr_receiver *r, uint32_t id)
{
    uint32_t k = r->num_slices;
    uint32_t ids = CWR_IDS - k;
    uint64_t near = r->top > k ? r->top : k;
    uint64_t number = id;
    if (id >= k) {
        uint32_t ahead = (id + ids - cwr_id(k, near)) % ids;
        number = near + ahead;
        if (ahead >= ids / 2 && number >= ids + k) {
            number -= ids;
        }
    }
    if (number + 1 > r->top) {
        r->top = number + 1;
    }
}

/* RPR-7 */
static void start(cwr_receiver *r, const cwr_slice *s)
{
    drop_spare(r);
    r->num_slices = s->num_slices;
    r->last_bytes = s->last_bytes;
    r->top = 0;
    r->held_slices = 0;
    cw_acks_start(&r->acks);
    r->state = CW_RECEIVING;
}

static void forget_chunk(cwr_receiver *r)
{
    r->num_slices = 0;
    r->last_bytes = 0;
    r->have = 0;
    r->top = 0;
}

/* RPR-9 */
static void complete(cwr_receiver *r, cw_time now)
{
    if (!cwr_decoder_rebuild(&r->decoder)) {
        r->inconsistent++;
    }
    if (r->spare != NULL) {
        compare(r, r->spare_id, r->spare);
        drop_spare(r);
    }
    r->compared = false;
    r->previous_slices = r->num_slices;
    r->previous_top = r->top;
    forget_chunk(r);
    r->chunk_id = (r->chunk_id + 1) & 0xFFFFu;
    cw_acks_completed(&r->acks, now);
    r->state = CW_READY;
}

/* RPR-8; the decoder has the slice. Completes the chunk if it can. */
static void stored(cwr_receiver *r, cw_time now, uint32_t id)
{
    r->have = r->decoder.count;
    r->progress_at = now;
    cw_acks_stored(&r->acks, now, id);
    if (r->have == r->num_slices) {
        complete(r, now);
    }
}

/* The first slice of a chunk, also in another one's place. */
static cwr_receiver_row begin(cwr_receiver *r, cw_time now, const cwr_slice *s)
{
    bool replaces = r->state == CW_RECEIVING;
    if (!cwr_decoder_begin(&r->decoder, s->num_slices, s->last_bytes, s->id, s->data)) {
        return CWR_U_NONE;
    }
    start(r, s);
    note_top(r, s->id);
    stored(r, now, s->id);
    if (r->state == CW_READY) {
        return replaces ? CWR_U11 : CWR_U1;
    }
    return replaces ? CWR_U10 : CWR_U2;
}

static cwr_receiver_row add(cwr_receiver *r, cw_time now, const cwr_slice *s)
{
    switch (cwr_decoder_add(&r->decoder, s->id, s->data)) {
    case CWR_NO_MEMORY:
        return CWR_U_NONE;
    case CWR_DEPENDENT: /* RPR-10 */
        note_top(r, s->id);
        keep_spare(r, s);
        cw_acks_due_soon(&r->acks, CW_DUE_CURRENT, now);
        return CWR_U8;
    case CWR_ADDED:
        break;
    }
    note_top(r, s->id);
    stored(r, now, s->id);
    return r->state == CW_READY ? CWR_U6 : CWR_U5;
}

static bool slice_valid(const cwr_slice *s)
{
    cwr_packet p;
    p.type = CW_SLICE;
    p.as.slice = *s;
    return cwr_check(&p) == CW_OK;
}

cwr_receiver_row cwr_receiver_slice(cwr_receiver *r, cw_time now, const cwr_slice *s)
{
    static const cwr_receiver_row previous[3] = {CWR_U3, CWR_U12, CWR_U15};
    static const cwr_receiver_row foreign[3] = {CWR_U4, CWR_U13, CWR_U16};
    now = r->latest = later(r->latest, now);
    if (r->state == CW_RECEIVER_FAILED) {
        return CWR_U27;
    }
    if (!slice_valid(s)) {
        return CWR_U_NONE;
    }
    switch (guard_of(r, now, s)) {
    case PREVIOUS: /* RCV-13 */
        cw_acks_due_soon(&r->acks, CW_DUE_PREVIOUS, now);
        compare_late(r, s);
        return previous[r->state];
    case EARLY: /* RCV-14 */
        r->held_slices = s->num_slices;
        cw_acks_due_soon(&r->acks, CW_DUE_HOLD, now);
        return CWR_U14;
    case CONFLICTS:
        r->conflicts++;
        return CWR_U9;
    case DUPLICATE:
        note_top(r, s->id);
        cw_acks_due_soon(&r->acks, CW_DUE_CURRENT, now);
        return CWR_U7;
    case REPLACES:
    case REPLACES_COMPLETES:
        return begin(r, now, s);
    case STORED:
        return r->state == CW_WAITING ? begin(r, now, s) : add(r, now, s);
    default:
        return foreign[r->state];
    }
}

/* ---- Reads, acks, the deadline ---------------------------------------------- */

size_t cwr_receiver_size(const cwr_receiver *r)
{
    if (r->state != CW_READY) {
        return 0;
    }
    return (size_t)(r->decoder.num_slices - 1) * CW_SLICE_SIZE + r->decoder.last_bytes;
}

cwr_receiver_row cwr_receiver_read(cwr_receiver *r, cw_time now, uint8_t *out, size_t capacity, size_t *size)
{
    static const cwr_receiver_row refused[4] = {CWR_U18, CWR_U19, CWR_U_NONE, CWR_U28};
    size_t n = cwr_receiver_size(r);
    r->latest = later(r->latest, now);
    *size = 0;
    if (r->state != CW_READY || capacity < n) {
        return refused[r->state];
    }
    for (uint32_t i = 0; i < r->decoder.num_slices; i++) {
        memcpy(out + (size_t)i * CW_SLICE_SIZE, cwr_decoder_slice(&r->decoder, i), cw_slice_bytes(n, i));
    }
    *size = n;
    cwr_decoder_release(&r->decoder);
    r->state = CW_WAITING;
    return CWR_U17;
}

/* RPR-12 */
static void make_ack(const cwr_receiver *r, unsigned which, cwr_ack *ack)
{
    ack->chunk_id = r->chunk_id;
    if (which == CW_DUE_PREVIOUS) {
        ack->chunk_id = previous_id(r);
        ack->num_slices = r->previous_slices;
        ack->have = r->previous_slices;
        ack->top = cwr_id(r->previous_slices, r->previous_top);
    } else if (which == CW_DUE_CURRENT) {
        ack->num_slices = r->num_slices;
        ack->have = r->have;
        ack->top = cwr_id(r->num_slices, r->top);
    } else {
        ack->num_slices = r->held_slices;
        ack->have = 0;
        ack->top = 0;
    }
}

/* RPR-13 */
static void give_up(cwr_receiver *r)
{
    cwr_receiver_end(r);
    forget_chunk(r);
    cw_acks_init(&r->acks);
    r->state = CW_RECEIVER_FAILED;
}

cwr_receiver_row cwr_receiver_poll(cwr_receiver *r, cw_time now, cwr_ack *ack)
{
    static const cwr_receiver_row acked[3] = {CWR_U20, CWR_U22, CWR_U25};
    static const cwr_receiver_row nothing[3] = {CWR_U21, CWR_U23, CWR_U26};
    unsigned which;
    now = r->latest = later(r->latest, now);
    if (r->state == CW_RECEIVER_FAILED) {
        return CWR_U29;
    }
    if (r->state == CW_RECEIVING && now - r->progress_at >= r->give_up) { /* RCV-9 */
        give_up(r);
        return CWR_U24;
    }
    which = cw_acks_take(&r->acks, now);
    if (which == 0) {
        return nothing[r->state];
    }
    make_ack(r, which, ack);
    return acked[r->state];
}

/* RCV-17 */
cw_time cwr_receiver_deadline(const cwr_receiver *r)
{
    cw_time at = r->progress_at + r->give_up;
    return r->state == CW_RECEIVING && at < r->acks.at ? at : r->acks.at;
}

void cwr_receiver_end(cwr_receiver *r)
{
    drop_spare(r);
    cwr_decoder_release(&r->decoder);
}
