/* Acks that lie (section 8.3). See connection_parts.h. */
#include "connection_parts.h"
#include "session_keys.h"

#include <string.h>

#define TRIAL_WAIT ((cwp_time)1000000)

enum {
    HOLES = 16,
    FIRST_CREDIT = 64,
    MOST_CREDIT = 256,
    INITIAL_WINDOW = 32,
    MOST_SENT = CWR_IDS, /* transmissions of a chunk that are kept (CXM-21) */
    FIRST_SENT = 64,
    SEQUENCES = 65536
};

/* CXM-21, the better ones last. */
typedef enum { ABSENT, OPEN, PROVEN } proof;

void cwn_witness_init(cwn_witness *w, uint32_t lanes, const uint8_t *seed, cwp_memory memory)
{
    memset(w, 0, sizeof *w);
    w->memory = memory;
    w->lanes = lanes;
    w->credit = FIRST_CREDIT;
    for (uint32_t i = 0; i < CWS_MOST_LANES; i++) {
        w->lane[i].count = -1;
    }
    if (seed != NULL) {
        w->has_seed = true;
        memcpy(w->seed, seed, 16); /* HMAC takes zeros behind a key for the same key */
    }
}

void cwn_witness_end(cwn_witness *w)
{
    for (uint32_t i = 0; i < w->lanes; i++) {
        cwn_witnessed *c = &w->lane[i];
        if (c->sent != NULL) {
            w->memory.give(w->memory.owner, c->sent, c->capacity * sizeof *c->sent);
        }
    }
    cws_wipe(w->seed, sizeof w->seed);
}

/* ---- Transmissions -------------------------------------------------------------- */

static bool grow(cwn_witness *w, cwn_witnessed *c)
{
    uint32_t capacity = c->capacity > 0 ? 2 * c->capacity : FIRST_SENT;
    cwn_transmission *wider = (cwn_transmission *)w->memory.take(w->memory.owner, capacity * sizeof *wider);
    if (wider == NULL) {
        return false;
    }
    if (c->sent != NULL) {
        memcpy(wider, c->sent, c->num_sent * sizeof *wider);
        w->memory.give(w->memory.owner, c->sent, c->capacity * sizeof *wider);
    }
    c->sent = wider;
    c->capacity = capacity;
    return true;
}

static void begin_chunk(cwn_witnessed *c, uint32_t num_slices)
{
    c->count++;
    c->num_slices = num_slices;
    c->num_sent = 0;
    c->unknown = false;
    cw_set_clear(&c->accepted);
    c->on_credit = 0;
}

/* After so many, or without memory, the chunk's acks are believed. */
static void keep(cwn_witness *w, cwn_witnessed *c, int64_t number, uint32_t id)
{
    if (!c->unknown && c->num_sent == c->capacity) {
        c->unknown = c->num_sent == MOST_SENT || !grow(w, c);
    }
    if (!c->unknown) {
        cwn_transmission t = {0, 0, false};
        t.number = number;
        t.id = (uint16_t)id;
        c->sent[c->num_sent++] = t;
        c->unknown = c->num_sent == MOST_SENT;
    }
}

static bool is_known(const cwn_witnessed *c) { return c->num_sent > 0 && !c->unknown; }

/* Numbers ascend. */
static cwn_transmission *find(const cwn_witnessed *c, int64_t number)
{
    uint32_t low = 0;
    uint32_t high = c->num_sent;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->sent[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < c->num_sent && c->sent[low].number == number ? &c->sent[low] : NULL;
}

/* ---- What is sent and acked ------------------------------------------------------- */

/* CXM-18 3; 0 if libcrypto failed: then no number is skipped. */
static uint32_t draw(cwn_witness *w)
{
    uint8_t block[CWS_KEY];
    uint8_t number[8];
    cws_put_long(w->draws / CWS_KEY, number);
    if (!cws_hmac(w->seed, number, sizeof number, block)) {
        return 0;
    }
    return 1 + block[w->draws++ % CWS_KEY] % HOLES;
}

bool cwn_witness_heavy(cwn_witness *w)
{
    if (w->has_seed && w->until == 0) {
        w->until = draw(w);
    }
    return w->until > 0 && --w->until == 0;
}

void cwn_witness_sent(cwn_witness *w, cwp_time now, int64_t number, const cwn_record *slice, uint32_t variant)
{
    cwn_witnessed *c = &w->lane[slice->lane];
    const cw_slice *named = &slice->body.named.as.slice;
    const cwr_slice *repair = &slice->body.repair.as.slice;
    bool repairs = variant == CWS_REPAIR;
    if (c->count < 0 || cwp_on_wire(c->count) != (repairs ? repair->chunk_id : named->chunk_id)) {
        begin_chunk(c, repairs ? repair->num_slices : named->num_slices);
    }
    keep(w, c, number, repairs ? repair->id : named->slice_id);
    w->tried++;
    if (!w->arrived && w->tried >= INITIAL_WINDOW) {
        uint32_t trials = w->tried - INITIAL_WINDOW;
        w->held_until = now + (TRIAL_WAIT << (trials < 2 ? trials : 2));
    }
}

void cwn_witness_acked(cwn_witness *w, int64_t number)
{
    for (uint32_t i = 0; i < w->lanes; i++) {
        cwn_transmission *t = find(&w->lane[i], number);
        if (t != NULL) {
            t->acked = true;
            w->credit += w->credit < MOST_CREDIT;
            w->arrived = w->arrived || number >= w->from;
        }
    }
}

void cwn_witness_settle(cwn_witness *w, bool rests)
{
    if (w->arrived || w->tried < INITIAL_WINDOW) {
        w->held_until = 0;
    }
    for (uint32_t i = 0; rests && i < w->lanes; i++) {
        w->lane[i].num_sent = 0;
    }
}

void cwn_witness_forget_path(cwn_witness *w, int64_t next_to_send)
{
    w->from = next_to_send;
    w->tried = 0;
    w->arrived = false;
    w->held_until = 0;
}

cwp_time cwn_witness_hold(const cwn_witness *w, cwp_time at, cwp_time latest)
{
    if (at == CWP_NEVER || at >= w->held_until) {
        return at;
    }
    return w->held_until < latest ? w->held_until : latest;
}

/* ---- What is acked by CHUNK_ACK ----------------------------------------------------- */

static proof proof_of(const cwn_said *said, const cwn_transmission *t)
{
    int64_t behind = said->ack - t->number;
    if (t->acked) {
        return PROVEN;
    }
    if (behind >= CWP_ACK_BITS) {
        return OPEN;
    }
    return behind >= 0 && (said->bits >> behind & 1) != 0 ? PROVEN : ABSENT;
}

/* The best of each slice. */
static void best_proofs(const cwn_witnessed *c, const cwn_said *said, proof best[CW_MAX_SLICES])
{
    for (uint32_t id = 0; id < CW_MAX_SLICES; id++) {
        best[id] = ABSENT;
    }
    for (uint32_t i = 0; i < c->num_sent; i++) {
        proof p = proof_of(said, &c->sent[i]);
        uint16_t id = c->sent[i].id;
        best[id] = p > best[id] ? p : best[id];
    }
}

/* Transmissions below top that are at least so. */
static uint32_t count_below(const cwn_witnessed *c, const cwn_said *said, uint32_t top, proof least)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < top; i++) {
        n += proof_of(said, &c->sent[i]) >= least;
    }
    return n;
}

static bool named_lies(const cwn_witnessed *c, const cwn_said *said, const cw_ack *a)
{
    proof best[CW_MAX_SLICES];
    if (a->num_slices != c->num_slices) {
        return true;
    }
    best_proofs(c, said, best);
    for (uint32_t id = 0; id < a->num_slices; id++) {
        if (cw_set_has(&a->acked, id) && !cw_set_has(&c->accepted, id) && best[id] == ABSENT) {
            return true;
        }
    }
    return false;
}

static bool repair_lies(const cwn_witnessed *c, const cwn_said *said, const cwr_ack *a)
{
    return a->num_slices != c->num_slices || a->top > c->num_sent ||
           (a->top > 0 && proof_of(said, &c->sent[a->top - 1]) == ABSENT) ||
           a->have > count_below(c, said, a->top, OPEN);
}

bool cwn_witness_lies(const cwn_witness *w, const cwn_said *said, const cwn_record *ack, uint32_t variant)
{
    const cwn_witnessed *c = &w->lane[ack->lane];
    bool repairs = variant == CWS_REPAIR;
    uint32_t id = repairs ? ack->body.repair.as.ack.chunk_id : ack->body.named.as.ack.chunk_id;
    int64_t behind = (uint16_t)(cwp_on_wire(c->count) - id);
    if (c->count < 0 || behind > c->count || behind >= SEQUENCES / 2) { /* CXM-20 */
        return true;
    }
    if (behind > 0 || !is_known(c)) {
        return false;
    }
    return repairs ? repair_lies(c, said, &ack->body.repair.as.ack) : named_lies(c, said, &ack->body.named.as.ack);
}

/* CXM-22 1 to 4 */
static void believe_named(cwn_witness *w, cwn_witnessed *c, const cwn_said *said, cw_ack *a)
{
    proof best[CW_MAX_SLICES];
    best_proofs(c, said, best);
    for (uint32_t id = 0; id < a->num_slices; id++) {
        if (!cw_set_has(&a->acked, id) || cw_set_has(&c->accepted, id)) {
            continue;
        }
        if (best[id] == PROVEN || (best[id] == OPEN && w->credit > 0)) {
            w->credit -= best[id] == OPEN;
            cw_set_add(&c->accepted, id);
        } else {
            cw_set_remove(&a->acked, id);
        }
    }
}

/* CXM-22 5 */
static void believe_repair(cwn_witness *w, cwn_witnessed *c, const cwn_said *said, cwr_ack *a)
{
    uint32_t proven = count_below(c, said, a->top, PROVEN);
    while (a->have > proven + c->on_credit && w->credit > 0) {
        w->credit--;
        c->on_credit++;
    }
    if (a->have > proven + c->on_credit) {
        a->have = proven + c->on_credit;
    }
}

void cwn_witness_believe(cwn_witness *w, const cwn_said *said, cwn_record *ack, uint32_t variant)
{
    cwn_witnessed *c = &w->lane[ack->lane];
    bool repairs = variant == CWS_REPAIR;
    uint32_t id = repairs ? ack->body.repair.as.ack.chunk_id : ack->body.named.as.ack.chunk_id;
    if (cwp_on_wire(c->count) != id || !is_known(c)) {
        return;
    }
    if (repairs) {
        believe_repair(w, c, said, &ack->body.repair.as.ack);
    } else {
        believe_named(w, c, said, &ack->body.named.as.ack);
    }
}
