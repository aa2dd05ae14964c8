/* The endpoint of the packet layer (sections 5 to 7 and 10). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

#include <string.h>

enum { FIRST_CAPACITY = 32 };

/* The states of section 7. */
enum { SENT, QUIET, LOST, ACKED };

static const uint8_t pad[1] = {0}; /* the payload of an ack-only packet (PKA-3) */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Configuration ---------------------------------------------------------- */

cwp_config cwp_default_config(void)
{
    cwp_config c;
    c.fragment_size = 1024;
    c.max_fragments = 16;
    c.fragment_above = CWP_MAX_REGULAR;
    c.received = 256;
    c.sent_max = 8192;
    c.reassembly = 0;
    c.reassembly_packets = 0;
    c.reassembly_bytes = 0;
    c.first_sent = 0;
    c.first_received = 0;
    return c;
}

static bool power_within(uint32_t v, uint32_t low, uint32_t high)
{
    return v >= low && v <= high && (v & (v - 1)) == 0;
}

static bool first_allowed(int64_t first) { return first >= 0 && first <= CWP_MOST_FIRST; }

/* With every default in its place (PKP-1). */
static cwp_config complete_config(cwp_config c)
{
    if (c.reassembly == 0) {
        c.reassembly = c.received / 2 < 64 ? c.received / 2 : 64;
    }
    if (c.reassembly_packets == 0) {
        c.reassembly_packets = c.reassembly < 8 ? c.reassembly : 8;
    }
    if (c.reassembly_bytes == 0) {
        c.reassembly_bytes = 2 * c.fragment_size * c.max_fragments;
    }
    return c;
}

static bool config_allowed(const cwp_config *c)
{
    return c->fragment_size >= 1 && c->fragment_size <= c->fragment_above && c->fragment_above <= CWP_MAX_REGULAR &&
           c->max_fragments >= 2 && c->max_fragments <= 256 && power_within(c->received, 64, 16384) &&
           power_within(c->sent_max, 256, 16384) && power_within(c->reassembly, 1, c->received / 2) &&
           c->reassembly_packets >= 1 && c->reassembly_packets <= c->reassembly &&
           c->reassembly_bytes >= c->fragment_size * c->max_fragments && first_allowed(c->first_sent) &&
           first_allowed(c->first_received);
}

/* A block with every byte 0, or NULL. */
static void *take_clear(cwp_endpoint *e, size_t size)
{
    void *block = e->memory.take(e->memory.owner, size);
    if (block != NULL) {
        memset(block, 0, size);
    }
    return block;
}

static void give(cwp_endpoint *e, void *block, size_t size)
{
    if (block != NULL) {
        e->memory.give(e->memory.owner, block, size);
    }
}

static size_t max_packet(const cwp_endpoint *e) { return e->config.fragment_size * e->config.max_fragments; }
static size_t set_size(const cwp_endpoint *e) { return e->config.received / 32 * sizeof(uint32_t); }
static size_t parts_size(const cwp_endpoint *e) { return e->config.reassembly_packets * sizeof(cwp_parts); }
static size_t pointers_size(const cwp_endpoint *e)
{
    return (size_t)e->config.reassembly_packets * e->config.max_fragments * sizeof(uint8_t *);
}

static bool take_rings(cwp_endpoint *e)
{
    e->received = (uint32_t *)take_clear(e, set_size(e));
    e->dead = (uint32_t *)take_clear(e, set_size(e));
    e->parts = (cwp_parts *)take_clear(e, parts_size(e));
    e->pointers = (uint8_t **)take_clear(e, pointers_size(e));
    e->kept = (cwp_kept *)take_clear(e, FIRST_CAPACITY * sizeof(cwp_kept));
    return e->received != NULL && e->dead != NULL && e->parts != NULL && e->pointers != NULL && e->kept != NULL;
}

static void give_rings(cwp_endpoint *e)
{
    give(e, e->received, set_size(e));
    give(e, e->dead, set_size(e));
    give(e, e->parts, parts_size(e));
    give(e, e->pointers, pointers_size(e));
    give(e, e->kept, e->capacity * sizeof(cwp_kept));
}

bool cwp_endpoint_init(cwp_endpoint *e, const cwp_config *config, cwp_memory memory, cwp_above above,
                       uint8_t *assembly)
{
    cwp_config c = complete_config(*config);
    if (!config_allowed(&c)) {
        return false;
    }
    memset(e, 0, sizeof *e);
    e->config = c;
    e->memory = memory;
    e->above = above;
    e->assembly = assembly;
    e->next_to_send = config->first_sent;
    e->next = config->first_received;
    e->first_kept = config->first_sent;
    e->oldest = config->first_sent;
    e->path_from = config->first_sent;
    e->newest_acked = -1;
    e->newest_lost = -1;
    e->ack_at = CWP_NEVER;
    e->capacity = FIRST_CAPACITY;
    if (!take_rings(e)) {
        give_rings(e);
        return false;
    }
    for (uint32_t i = 0; i < c.reassembly_packets; i++) {
        e->parts[i].data = e->pointers + (size_t)i * c.max_fragments;
    }
    return true;
}

/* ---- Sets of numbers -------------------------------------------------------- */

/* A set holds numbers from next - RECEIVED to next - 1; the ring has a bit for each. */
static bool has(const cwp_endpoint *e, const uint32_t *set, int64_t number)
{
    uint32_t i = (uint32_t)((uint64_t)number & (e->config.received - 1));
    return number >= 0 && number < e->next && number >= e->next - (int64_t)e->config.received &&
           (set[i / 32] >> i % 32 & 1u) != 0;
}

static void put(const cwp_endpoint *e, uint32_t *set, int64_t number, bool in)
{
    uint32_t i = (uint32_t)((uint64_t)number & (e->config.received - 1));
    uint32_t bit = (uint32_t)1 << i % 32;
    set[i / 32] = in ? set[i / 32] | bit : set[i / 32] & ~bit;
}

/* ---- Reassembly (PKX-1 to PKX-4) -------------------------------------------- */

static size_t fragment_bytes(const cwp_endpoint *e, const cwp_parts *p, uint32_t id)
{
    return id == p->count - 1 ? p->last_size : e->config.fragment_size;
}

static cwp_parts *find_parts(cwp_endpoint *e, int64_t number)
{
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        if (e->parts[i].used && e->parts[i].number == number) {
            return &e->parts[i];
        }
    }
    return NULL;
}

static cwp_parts *unused_parts(cwp_endpoint *e)
{
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        if (!e->parts[i].used) {
            return &e->parts[i];
        }
    }
    return NULL;
}

static void drop(cwp_endpoint *e, cwp_parts *p)
{
    for (uint32_t id = 0; id < p->count; id++) {
        if (p->data[id] != NULL) {
            give(e, p->data[id], fragment_bytes(e, p, id));
            p->data[id] = NULL;
        }
    }
    p->bytes = 0;
    p->used = false;
}

static void drop_dead(cwp_endpoint *e, cwp_parts *p)
{
    put(e, e->dead, p->number, true);
    drop(e, p);
}

/* What each event first does: PKN-3; PKX-2, step 5. */
static cwp_time begin(cwp_endpoint *e, cwp_time now)
{
    e->latest = larger(e->latest, now);
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        cwp_parts *p = &e->parts[i];
        if (p->used && e->latest - p->begun >= CWP_REASSEMBLY_TIME) {
            drop_dead(e, p);
        }
    }
    return e->latest;
}

/* The one with the smallest number below a number, or NULL. */
static cwp_parts *smallest_below(cwp_endpoint *e, int64_t number)
{
    cwp_parts *best = NULL;
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        cwp_parts *p = &e->parts[i];
        if (p->used && p->number < number && (best == NULL || p->number < best->number)) {
            best = p;
        }
    }
    return best;
}

/* PKX-3: whether a fragment fits beside the parts from `from` on. */
static bool fits(const cwp_endpoint *e, int64_t from, int64_t number, size_t size)
{
    uint32_t packets = 1;
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        const cwp_parts *p = &e->parts[i];
        if (p->used && p->number >= from) {
            packets += p->number != number ? 1u : 0u;
            size += p->bytes;
        }
    }
    return packets <= e->config.reassembly_packets && size <= e->config.reassembly_bytes;
}

/* ---- Receiving (section 5) -------------------------------------------------- */

/* PKR-3: what leaves a window is removed. */
static void move(cwp_endpoint *e, int64_t number)
{
    int64_t steps = smaller(number + 1 - e->next, e->config.received);
    if (steps <= 0) {
        return;
    }
    e->next = number + 1;
    for (int64_t n = number; n > number - steps; n--) {
        put(e, e->received, n, false);
        put(e, e->dead, n, false);
    }
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        cwp_parts *p = &e->parts[i];
        if (p->used && p->number < e->next - (int64_t)e->config.reassembly) {
            drop(e, p);
        }
    }
}

static cwp_kept *kept(const cwp_endpoint *e, int64_t number)
{
    if (number < e->first_kept || number >= e->next_to_send) {
        return NULL;
    }
    return &e->kept[(uint64_t)number & (e->capacity - 1)];
}

static void skip_settled(cwp_endpoint *e)
{
    const cwp_kept *k = kept(e, e->oldest);
    while (k != NULL && k->state != SENT) {
        e->oldest++;
        k = kept(e, e->oldest);
    }
}

/* PKL-8, by bit n of a header. */
static void sample(cwp_endpoint *e, cwp_time now, cwp_time latency, unsigned n, bool overtaken)
{
    if (n == 0) {
        cwp_round_trip_sample(&e->round_trip, now, latency);
    }
    if (overtaken) {
        cwp_patience_overtaken(&e->patience, now, latency, e->round_trip.srtt);
    }
    cwp_shown_add(&e->shown, latency);
}

/* L1, L3, L9: number is newly acked, by bit n; true: it gave a sample. */
static bool ack(cwp_endpoint *e, cwp_time now, int64_t number, unsigned n, int64_t newest_before)
{
    cwp_kept *k = kept(e, number);
    bool here = number >= e->path_from;
    bool sampled = n == 0 && k->state != QUIET && here; /* PKE-1 */
    if (k->state != QUIET && here) {
        sample(e, now, smaller(now - k->at, CWP_LONGEST_SAMPLE), n, number + 2 <= newest_before);
    }
    if (k->state == SENT && here) {
        cwp_loss_settled(&e->loss, now, false);
    }
    cwp_seconds_add(&e->bytes_acked, now, k->bytes);
    k->state = ACKED;
    e->newest_acked = larger(e->newest_acked, number);
    if (e->above.acked != NULL) {
        e->above.acked(e->above.owner, number);
    }
    return sampled;
}

/* PKA-2 */
static bool take_acks(cwp_endpoint *e, cwp_time now, const cwp_header *h)
{
    int64_t before = e->newest_acked;
    bool sampled = false;
    for (unsigned n = 0; n < CWP_ACK_BITS; n++) {
        int64_t number = cwp_newest((uint16_t)(h->ack - n), e->next_to_send - 1);
        const cwp_kept *k = kept(e, number);
        if ((h->ack_bits >> n & 1u) != 0 && k != NULL && k->state != ACKED) {
            sampled = ack(e, now, number, n, before) || sampled;
        }
    }
    skip_settled(e);
    return sampled;
}

static bool is_pad(const uint8_t *payload, size_t size) { return size == 1 && payload[0] == pad[0]; }

/* PKR-1; the payload is lent to the caller. */
static void take(cwp_endpoint *e, cwp_time now, const cwp_header *h, cwp_verdict verdict, const uint8_t *payload,
                 size_t size, cwp_receipt *r)
{
    move(e, r->number);
    put(e, e->received, r->number, true);
    r->sampled = take_acks(e, now, h);
    r->payload = payload;
    r->size = size;
    if (verdict == CWP_TAKE_QUIETLY || is_pad(payload, size)) { /* PKR-7 */
        return;
    }
    e->unreported++;
    e->ack_at = smaller(e->ack_at, e->unreported >= CWP_ACK_EVERY ? now : now + CWP_ACK_DELAY);
}

static cwp_verdict ask(const cwp_endpoint *e, int64_t number, const cwp_header *h, const uint8_t *payload, size_t size)
{
    cwp_arrival a;
    if (e->above.verdict == NULL) {
        return CWP_TAKE;
    }
    a.number = number;
    a.ack = cwp_newest(h->ack, e->next_to_send - 1);
    a.ack_bits = h->ack_bits;
    a.known = larger(a.ack, -1);
    a.payload = payload;
    a.size = size;
    return e->above.verdict(e->above.owner, &a);
}

static cwp_row refuse(cwp_receipt *r, cwp_row row, cwp_error error)
{
    r->error = error;
    r->place = -1;
    return row;
}

static cwp_row receive_regular(cwp_endpoint *e, cwp_time now, const cwp_packet *p, cwp_receipt *r)
{
    cwp_verdict verdict = ask(e, r->number, &p->header, p->data, p->size);
    cwp_parts *begun = find_parts(e, r->number);
    if (verdict == CWP_REFUSE) {
        return refuse(r, CWP_P5, CWP_REFUSED);
    }
    if (begun != NULL) {
        drop(e, begun);
    }
    take(e, now, &p->header, verdict, p->data, p->size, r);
    return CWP_P6;
}

/* PKX-3, once it is known that this helps. */
static void make_room(cwp_endpoint *e, int64_t number, size_t size)
{
    while (!fits(e, 0, number, size)) {
        drop_dead(e, smallest_below(e, number));
    }
}

/* The packet that a last missing fragment completes, in assembly. */
static size_t assemble(const cwp_endpoint *e, const cwp_parts *b, const cwp_packet *p)
{
    size_t size = 0;
    for (uint32_t id = 0; id < b->count; id++) {
        bool here = id == p->fragment_id;
        size_t n = here ? p->size : fragment_bytes(e, b, id);
        memcpy(e->assembly + size, here ? p->data : b->data[id], n);
        size += n;
    }
    return size;
}

/* P12, P13 */
static cwp_row complete(cwp_endpoint *e, cwp_time now, cwp_parts *b, const cwp_packet *p, cwp_receipt *r)
{
    cwp_header header = p->has_header ? p->header : b->header;
    size_t size = assemble(e, b, p);
    cwp_verdict verdict = ask(e, r->number, &header, e->assembly, size);
    drop(e, b);
    if (verdict == CWP_REFUSE) {
        return refuse(r, CWP_P12, CWP_REFUSED);
    }
    take(e, now, &header, verdict, e->assembly, size, r);
    return CWP_P13;
}

/* P11, PKR-2; b is NULL for the first fragment. */
static cwp_row store(cwp_endpoint *e, cwp_time now, cwp_parts *b, const cwp_packet *p, cwp_receipt *r)
{
    uint8_t *block = (uint8_t *)e->memory.take(e->memory.owner, p->size);
    if (block == NULL) {
        return refuse(r, CWP_P_NONE, CWP_NO_MEMORY);
    }
    make_room(e, r->number, p->size);
    if (b == NULL) {
        b = unused_parts(e);
        b->used = true;
        b->number = r->number;
        b->begun = now;
        b->count = p->num_fragments;
        b->have = 0;
    }
    if (p->has_header) {
        b->header = p->header;
    }
    if (p->fragment_id == b->count - 1) {
        b->last_size = p->size;
    }
    memcpy(block, p->data, p->size);
    b->data[p->fragment_id] = block;
    b->have++;
    b->bytes += p->size;
    move(e, r->number);
    return CWP_P11;
}

static cwp_row receive_fragment(cwp_endpoint *e, cwp_time now, const cwp_packet *p, cwp_receipt *r)
{
    cwp_parts *b = find_parts(e, r->number);
    if (r->number < e->next - (int64_t)e->config.reassembly) {
        return refuse(r, CWP_P7, CWP_STALE);
    }
    if (b != NULL && b->count != p->num_fragments) {
        return refuse(r, CWP_P8, CWP_FRAGMENT_COUNT);
    }
    if (b != NULL && b->data[p->fragment_id] != NULL) {
        return refuse(r, CWP_P9, CWP_FRAGMENT_DUPLICATE);
    }
    if (b != NULL && b->have + 1 == b->count) {
        return complete(e, now, b, p, r);
    }
    if (!fits(e, r->number, r->number, p->size)) {
        return refuse(r, CWP_P10, CWP_REASSEMBLY_FULL);
    }
    return store(e, now, b, p, r);
}

static cwp_row receive(cwp_endpoint *e, cwp_time now, const uint8_t *datagram, size_t length, cwp_receipt *r)
{
    cwp_packet p;
    size_t place;
    r->error = cwp_decode(datagram, length, e->config.fragment_size, e->config.max_fragments, &p, &place);
    r->place = (int)place;
    if (r->error != CWP_OK) {
        return CWP_P1;
    }
    if (!cwp_number_from(p.sequence, e->next - (int64_t)e->config.received, &r->number)) {
        return refuse(r, CWP_P2, CWP_STALE);
    }
    if (has(e, e->received, r->number)) {
        return refuse(r, CWP_P3, CWP_DUPLICATE);
    }
    if (has(e, e->dead, r->number)) {
        return refuse(r, CWP_P4, CWP_DEAD);
    }
    return p.kind == CWP_REGULAR ? receive_regular(e, now, &p, r) : receive_fragment(e, now, &p, r);
}

void cwp_receive(cwp_endpoint *e, cwp_time now, const uint8_t *datagram, size_t length, cwp_receipt *r)
{
    memset(r, 0, sizeof *r);
    now = begin(e, now);
    r->row = receive(e, now, datagram, length, r);
    if (r->error != CWP_OK) {
        e->refused[r->error]++;
    } else {
        cwp_seconds_add(&e->bytes_received, now, length);
    }
}

/* ---- Sending (sections 6 and 7) --------------------------------------------- */

/* PKA-1 */
static cwp_header next_header(const cwp_endpoint *e)
{
    cwp_header h = {cwp_on_wire(e->next_to_send), cwp_on_wire(e->next - 1), 0};
    for (unsigned n = 0; n < CWP_ACK_BITS; n++) {
        if (has(e, e->received, e->next - 1 - (int64_t)n)) {
            h.ack_bits |= (uint32_t)1 << n;
        }
    }
    return h;
}

static void lose(cwp_endpoint *e, cwp_time now, int64_t number)
{
    if (number >= e->path_from) {
        e->newest_lost = larger(e->newest_lost, number);
        cwp_loss_settled(&e->loss, now, true);
    }
    if (e->above.lost != NULL) {
        e->above.lost(e->above.owner, number);
    }
}

static void forget(cwp_endpoint *e)
{
    e->first_kept++;
    e->oldest = larger(e->oldest, e->first_kept);
}

/* L4, L6, L8, L11 */
static void push_out(cwp_endpoint *e, cwp_time now)
{
    bool lost = kept(e, e->first_kept)->state == SENT;
    if (lost) {
        lose(e, now, e->first_kept);
    }
    forget(e);
}

/* Twice the ring; without memory it stays, and forgets earlier. */
static void grow(cwp_endpoint *e)
{
    uint32_t capacity = 2 * e->capacity;
    cwp_kept *wider = (cwp_kept *)e->memory.take(e->memory.owner, capacity * sizeof(cwp_kept));
    if (wider == NULL) {
        return;
    }
    for (int64_t n = e->first_kept; n < e->next_to_send; n++) {
        wider[(uint64_t)n & (capacity - 1)] = *kept(e, n);
    }
    give(e, e->kept, e->capacity * sizeof(cwp_kept));
    e->kept = wider;
    e->capacity = capacity;
}

uint32_t cwp_sent_bytes(const cwp_sent *s)
{
    uint8_t header[CWP_MAX_HEADER];
    size_t n = s->size + cwp_encode_header(&s->header, header);
    return (uint32_t)(s->datagrams > 1 ? n + (size_t)s->datagrams * CWP_FRAGMENT_HEADER : n);
}

static void keep(cwp_endpoint *e, cwp_time now, uint8_t state, uint32_t bytes)
{
    cwp_kept *k;
    if (e->next_to_send - e->first_kept == e->capacity && e->capacity < e->config.sent_max) {
        grow(e);
    }
    if (e->next_to_send - e->first_kept == e->capacity) {
        push_out(e, now);
    }
    e->next_to_send++;
    k = kept(e, e->next_to_send - 1);
    k->at = now;
    k->bytes = bytes;
    k->state = state;
    skip_settled(e);
}

cwp_error cwp_send(cwp_endpoint *e, cwp_time now, const uint8_t *payload, size_t size, bool quiet, cwp_sent *s)
{
    uint32_t bytes;
    now = begin(e, now);
    if (size < 1 || size > max_packet(e)) { /* PKF-3 */
        return CWP_PAYLOAD_SIZE;
    }
    s->number = e->next_to_send;
    s->header = next_header(e);
    s->payload = payload;
    s->size = size;
    s->datagrams = cwp_num_datagrams(size, e->config.fragment_size, e->config.fragment_above);
    bytes = cwp_sent_bytes(s);
    keep(e, now, quiet || is_pad(payload, size) ? QUIET : SENT, bytes); /* PKL-4 */
    cwp_seconds_add(&e->bytes_sent, now, bytes);
    e->unreported = 0;
    e->ack_at = CWP_NEVER;
    return CWP_OK;
}

void cwp_skip(cwp_endpoint *e, cwp_time now) { keep(e, begin(e, now), ACKED, 0); }

/* A packet has bytes. */
bool cwp_skipped(const cwp_endpoint *e, int64_t number)
{
    const cwp_kept *k = kept(e, number);
    return k != NULL && k->bytes == 0;
}

void cwp_forget_path(cwp_endpoint *e)
{
    memset(&e->round_trip, 0, sizeof e->round_trip);
    memset(&e->patience, 0, sizeof e->patience);
    memset(&e->loss, 0, sizeof e->loss);
    memset(&e->shown, 0, sizeof e->shown);
    memset(&e->bytes_sent, 0, sizeof e->bytes_sent);
    memset(&e->bytes_received, 0, sizeof e->bytes_received);
    memset(&e->bytes_acked, 0, sizeof e->bytes_acked);
    e->newest_lost = -1;
    e->path_from = e->next_to_send;
}

size_t cwp_sent_datagram(const cwp_endpoint *e, const cwp_sent *s, uint32_t i, uint8_t out[CWP_MAX_DATAGRAM])
{
    return cwp_encode_datagram(&s->header, s->payload, s->size, e->config.fragment_size, e->config.fragment_above, i,
                               out);
}

/* ---- Timers ----------------------------------------------------------------- */

/* L2 */
static void lose_overdue(cwp_endpoint *e, cwp_time now)
{
    cwp_kept *k = kept(e, e->oldest);
    while (k != NULL && now - k->at >= CWP_LOST_AFTER) {
        k->state = LOST;
        lose(e, now, e->oldest);
        skip_settled(e);
        k = kept(e, e->oldest);
    }
}

bool cwp_poll(cwp_endpoint *e, cwp_time now, cwp_sent *s)
{
    now = begin(e, now);
    lose_overdue(e, now);
    while (e->first_kept < e->next_to_send && now - kept(e, e->first_kept)->at >= CWP_KEPT) {
        forget(e); /* L5, L7, L10 */
    }
    return now >= e->ack_at && cwp_send(e, now, pad, sizeof pad, true, s) == CWP_OK; /* PKA-3 */
}

bool cwp_silent(const cwp_endpoint *e) { return e->newest_lost > e->newest_acked; }

cwp_time cwp_deadline(const cwp_endpoint *e)
{
    cwp_time t = e->ack_at;
    const cwp_kept *first = kept(e, e->first_kept);
    const cwp_kept *oldest = kept(e, e->oldest);
    if (first != NULL) {
        t = smaller(t, first->at + CWP_KEPT);
    }
    if (oldest != NULL) {
        t = smaller(t, oldest->at + CWP_LOST_AFTER);
    }
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        if (e->parts[i].used) {
            t = smaller(t, e->parts[i].begun + CWP_REASSEMBLY_TIME);
        }
    }
    return t;
}

void cwp_endpoint_end(cwp_endpoint *e)
{
    for (uint32_t i = 0; i < e->config.reassembly_packets; i++) {
        if (e->parts[i].used) {
            drop(e, &e->parts[i]);
        }
    }
    give_rings(e);
}
