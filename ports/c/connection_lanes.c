/* The lanes of one end: its chunks, and their machines (appendix D of spec/PROTOCOL.md; CXM-10).
 * See connection_parts.h. */
#include "connection_parts.h"

#include <string.h>

#define LANE_TURN ((cwp_time)1000000)

enum { BLOCK_HEAD = 16 }; /* before a block of a receiver: its size */

struct cwn_lane_sender {
    union {
        cw_base base;
        cw_recovery recovery;
        cwr_rule rule;
    } scheduler;
    union {
        cw_sender named;
        cwr_sender repair;
    } machine;
    cwn_chunk *chunk; /* that is sent */
    cwp_time spoke_at;
};

struct cwn_lane_receiver {
    union {
        cw_receiver named;
        cwr_receiver repair;
    } machine;
};

static bool repairs(const cwn_lanes *l) { return l->variant == CWS_REPAIR; }

static bool is_base(const cwn_lanes *l) { return !repairs(l) && l->base != NULL; }

/* ---- Memory ------------------------------------------------------------------- */

static uint8_t *take_block(void *owner, uint32_t slice_id, size_t size)
{
    cwn_lanes *l = (cwn_lanes *)owner;
    uint8_t *block = (uint8_t *)l->memory.take(l->memory.owner, BLOCK_HEAD + size);
    (void)slice_id;
    if (block == NULL) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    return block + BLOCK_HEAD;
}

static void give_block(void *owner, uint32_t slice_id, uint8_t *block)
{
    cwn_lanes *l = (cwn_lanes *)owner;
    size_t size;
    (void)slice_id;
    if (block != NULL) {
        memcpy(&size, block - BLOCK_HEAD, sizeof size);
        l->memory.give(l->memory.owner, block - BLOCK_HEAD, BLOCK_HEAD + size);
    }
}

static void give_chunk(cwn_lanes *l, cwn_chunk *c)
{
    if (c != NULL) {
        l->memory.give(l->memory.owner, c, sizeof *c + c->size);
    }
}

static const uint8_t *bytes_of(const cwn_chunk *c) { return (const uint8_t *)(c + 1); }

bool cwn_lanes_init(cwn_lanes *l, const cwn_config *f)
{
    cw_base base;
    memset(l, 0, sizeof *l);
    l->memory = f->memory;
    l->count = f->agreed.lanes;
    l->variant = f->agreed.variant;
    l->give_up = f->give_up;
    l->base = f->base;
    l->most_waiting = f->waiting_chunks;
    if (l->count > CWS_MOST_LANES || l->give_up < 1 || l->give_up > CW_MAX_GIVE_UP) {
        return false;
    }
    return cwr_control_init(&l->path, f->profile) && (!is_base(l) || cw_base_init(&base, *l->base));
}

void cwn_lanes_end(cwn_lanes *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        cwn_lane_receiver *r = l->receiver[i];
        if (r != NULL && repairs(l)) {
            cwr_receiver_end(&r->machine.repair);
        } else if (r != NULL) {
            cw_receiver_end(&r->machine.named);
        }
        if (r != NULL) {
            l->memory.give(l->memory.owner, r, sizeof *r);
        }
        if (l->sender[i] != NULL) {
            give_chunk(l, l->sender[i]->chunk);
            l->memory.give(l->memory.owner, l->sender[i], sizeof *l->sender[i]);
        }
    }
    while (l->waiting != NULL) {
        cwn_chunk *c = l->waiting;
        l->waiting = c->next;
        give_chunk(l, c);
    }
}

/* A lane's sender with its scheduler, made when it is used; NULL: no memory. */
static cwn_lane_sender *sender_of(cwn_lanes *l, uint32_t i)
{
    cwn_lane_sender *s = l->sender[i];
    if (s != NULL) {
        return s;
    }
    s = (cwn_lane_sender *)l->memory.take(l->memory.owner, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    memset(s, 0, sizeof *s);
    if (repairs(l)) {
        (void)cwr_rule_init(&s->scheduler.rule, l->path.profile);
        cwr_rule_share(&s->scheduler.rule, &l->path);
        (void)cwr_sender_init(&s->machine.repair, 0, l->give_up, &s->scheduler.rule.scheduler);
    } else if (is_base(l)) {
        (void)cw_base_init(&s->scheduler.base, *l->base);
        (void)cw_sender_init(&s->machine.named, 0, l->give_up, &s->scheduler.base.scheduler);
    } else {
        (void)cw_recovery_init(&s->scheduler.recovery, l->path.profile);
        cw_recovery_share(&s->scheduler.recovery, &l->path);
        (void)cw_sender_init(&s->machine.named, 0, l->give_up, &s->scheduler.recovery.scheduler);
    }
    l->sender[i] = s;
    return s;
}

static cwn_lane_receiver *receiver_of(cwn_lanes *l, uint32_t i)
{
    cwn_lane_receiver *r = l->receiver[i];
    cw_memory blocks = {take_block, give_block, NULL};
    blocks.owner = l;
    if (r != NULL) {
        return r;
    }
    r = (cwn_lane_receiver *)l->memory.take(l->memory.owner, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    memset(r, 0, sizeof *r);
    if (repairs(l)) {
        (void)cwr_receiver_init(&r->machine.repair, 0, l->give_up, blocks);
    } else {
        (void)cw_receiver_init(&r->machine.named, 0, l->give_up, blocks);
    }
    l->receiver[i] = r;
    return r;
}

/* ---- Machines of both variants -------------------------------------------------- */

/* A lane that was not used is idle. */
static cw_sender_state state_of(const cwn_lanes *l, uint32_t i)
{
    const cwn_lane_sender *s = l->sender[i];
    if (s == NULL) {
        return CW_IDLE;
    }
    return repairs(l) ? s->machine.repair.state : s->machine.named.state;
}

static bool is_sending(const cwn_lanes *l, uint32_t i) { return state_of(l, i) == CW_SENDING; }

/* When the peer was last heard of a chunk; CWP_NEVER if none is sent. */
static cwp_time heard_at(const cwn_lanes *l, uint32_t i)
{
    const cwn_lane_sender *s = l->sender[i];
    if (!is_sending(l, i)) {
        return CWP_NEVER;
    }
    return repairs(l) ? s->machine.repair.heard_at : s->machine.named.heard_at;
}

static cwp_time gives_up_at(const cwn_lanes *l, uint32_t i)
{
    cwp_time at = heard_at(l, i);
    return at == CWP_NEVER ? at : at + l->give_up;
}

static cwp_time sender_deadline(const cwn_lanes *l, uint32_t i)
{
    const cwn_lane_sender *s = l->sender[i];
    if (s == NULL) {
        return CWP_NEVER;
    }
    return repairs(l) ? cwr_sender_deadline(&s->machine.repair) : cw_sender_deadline(&s->machine.named);
}

static cwp_time receiver_deadline(const cwn_lanes *l, uint32_t i)
{
    const cwn_lane_receiver *r = l->receiver[i];
    if (r == NULL) {
        return CWP_NEVER;
    }
    return repairs(l) ? cwr_receiver_deadline(&r->machine.repair) : cw_receiver_deadline(&r->machine.named);
}

static bool receiver_failed(const cwn_lanes *l, uint32_t i)
{
    const cwn_lane_receiver *r = l->receiver[i];
    return r != NULL && (repairs(l) ? r->machine.repair.state : r->machine.named.state) == CW_RECEIVER_FAILED;
}

bool cwn_lanes_failed(const cwn_lanes *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (state_of(l, i) == CW_SENDER_FAILED || receiver_failed(l, i)) {
            return true;
        }
    }
    return false;
}

bool cwn_lanes_rest(const cwn_lanes *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (state_of(l, i) != CW_IDLE) {
            return false;
        }
    }
    return l->num_waiting == 0;
}

/* ---- Queue (LAN-4, LAN-7) --------------------------------------------------------- */

/* Whether a sender has sent all that its scheduler wants under way (LAN-7). */
static bool is_sent(const cwn_lanes *l, const cwn_lane_sender *s)
{
    return repairs(l) ? !cwr_rule_needed(&s->scheduler.rule)
                      : cw_set_count(&s->machine.named.sent) == s->machine.named.num_slices;
}

/* LAN-7, LAN-10: whether the next chunk may begin beside this lane's. */
static bool may_follow(const cwn_lanes *l, uint32_t i)
{
    return !is_sending(l, i) ||
           (is_sent(l, l->sender[i]) && (is_base(l) || l->path.flight < cwr_control_path_slices(&l->path)));
}

static void submit_to(cwn_lanes *l, cwp_time now, cwn_lane_sender *s)
{
    cwn_chunk *c = l->waiting;
    l->waiting = c->next;
    l->num_waiting--;
    l->begun++;
    give_chunk(l, s->chunk);
    s->chunk = c;
    if (repairs(l)) {
        (void)cwr_sender_submit(&s->machine.repair, now, bytes_of(c), c->size);
    } else {
        (void)cw_sender_submit(&s->machine.named, now, bytes_of(c), c->size);
    }
}

/* Begins what may begin; without memory it stays in the queue. */
static void submit(cwn_lanes *l, cwp_time now)
{
    while (l->num_waiting > 0) {
        uint32_t i = (uint32_t)(l->begun % l->count);
        uint32_t before = (uint32_t)((l->begun + l->count - 1) % l->count);
        cwn_lane_sender *s = state_of(l, i) == CW_IDLE && may_follow(l, before) ? sender_of(l, i) : NULL;
        if (s == NULL) {
            return;
        }
        submit_to(l, now, s);
    }
}

static cwn_chunk *copy_chunk(cwn_lanes *l, const uint8_t *bytes, size_t size)
{
    cwn_chunk *c = (cwn_chunk *)l->memory.take(l->memory.owner, sizeof *c + size);
    if (c != NULL) {
        c->next = NULL;
        c->size = size;
        memcpy(c + 1, bytes, size);
    }
    return c;
}

const char *cwn_lanes_send(cwn_lanes *l, cwp_time now, const uint8_t *chunk, size_t size)
{
    cwn_chunk **end = &l->waiting;
    if (l->count == 0) {
        return "no_lanes";
    }
    if (size < 1 || size > CW_MAX_CHUNK) {
        return "chunk_size";
    }
    if (l->num_waiting >= l->most_waiting) {
        return "busy";
    }
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = copy_chunk(l, chunk, size);
    if (*end == NULL) {
        return "no_memory";
    }
    l->num_waiting++;
    submit(l, now);
    return NULL;
}

/* LAN-5 */
bool cwn_lanes_read(cwn_lanes *l, cwp_time now, uint8_t *out, size_t capacity, size_t *size)
{
    cwn_lane_receiver *r = l->count > 0 ? l->receiver[l->delivered % l->count] : NULL;
    bool read;
    *size = 0;
    if (r == NULL) {
        return false;
    }
    if (repairs(l)) {
        read = cwr_receiver_read(&r->machine.repair, now, out, capacity, size) == CWR_U17;
        *size = read ? *size : cwr_receiver_size(&r->machine.repair);
    } else {
        read = cw_receiver_read(&r->machine.named, now, out, capacity, size) == CW_R16;
        *size = read ? *size : cw_receiver_size(&r->machine.named);
    }
    l->delivered += read;
    return read;
}

/* ---- What arrives ------------------------------------------------------------------ */

static void take_ack(cwn_lanes *l, cwp_time now, cwn_lane_sender *s, const cwn_record *r)
{
    if (repairs(l)) {
        (void)cwr_sender_ack(&s->machine.repair, now, &r->body.repair.as.ack);
    } else {
        (void)cw_sender_ack(&s->machine.named, now, &r->body.named.as.ack);
    }
    submit(l, now);
}

void cwn_lanes_take(cwn_lanes *l, cwp_time now, const cwn_record *r)
{
    uint32_t i = (uint32_t)r->lane;
    if (r->type == CWN_CHUNK_ACK) {
        if (l->sender[i] != NULL) {
            take_ack(l, now, l->sender[i], r);
        }
    } else if (receiver_of(l, i) == NULL) {
        return; /* as if it had been lost */
    } else if (repairs(l)) {
        (void)cwr_receiver_slice(&l->receiver[i]->machine.repair, now, &r->body.repair.as.slice);
    } else {
        (void)cw_receiver_slice(&l->receiver[i]->machine.named, now, &r->body.named.as.slice);
    }
}

/* ---- What is sent ------------------------------------------------------------------ */

static bool poll_receiver(cwn_lanes *l, cwp_time now, uint32_t i, cwn_record *r)
{
    cwn_lane_receiver *m = l->receiver[i];
    r->type = CWN_CHUNK_ACK;
    r->lane = i;
    if (repairs(l)) {
        cwr_receiver_row row = cwr_receiver_poll(&m->machine.repair, now, &r->body.repair.as.ack);
        r->body.repair.type = CW_ACK;
        return row == CWR_U20 || row == CWR_U22 || row == CWR_U25;
    } else {
        cw_receiver_row row = cw_receiver_poll(&m->machine.named, now, &r->body.named.as.ack);
        r->body.named.type = CW_ACK;
        return row == CW_R19 || row == CW_R21 || row == CW_R24;
    }
}

bool cwn_lanes_ack(cwn_lanes *l, cwp_time now, cwn_record *r)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (receiver_deadline(l, i) <= now && poll_receiver(l, now, i, r)) {
            return true;
        }
    }
    return false;
}

static bool poll_sender(cwn_lanes *l, cwp_time now, uint32_t i, cwn_record *r)
{
    cwn_lane_sender *s = l->sender[i];
    r->type = CWN_SLICE;
    r->lane = i;
    if (repairs(l)) {
        r->body.repair.type = CW_SLICE;
        return cwr_sender_poll(&s->machine.repair, now, &r->body.repair.as.slice) == CWR_T13;
    }
    r->body.named.type = CW_SLICE;
    return cw_sender_poll(&s->machine.named, now, &r->body.named.as.slice) == CW_S13;
}

/* Since when a lane waits for a turn (LAN-13); now, if it has nothing to send. */
static cwp_time waits_since(const cwn_lanes *l, cwp_time now, uint32_t i)
{
    cwp_time heard = heard_at(l, i);
    if (heard == CWP_NEVER) {
        return now;
    }
    return heard > l->sender[i]->spoke_at ? heard : l->sender[i]->spoke_at;
}

static bool waits(const cwn_lanes *l, cwp_time now, uint32_t i) { return now - waits_since(l, now, i) >= LANE_TURN; }

/* Lanes that wait, the longest silent first (LAN-13), then lanes with earlier chunks (LAN-8). */
static void find_turns(const cwn_lanes *l, cwp_time now, uint32_t turns[CWS_MOST_LANES])
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->count; k++) {
        uint32_t i = (uint32_t)((l->begun + k) % l->count);
        uint32_t at = n;
        if (!waits(l, now, i)) {
            continue;
        }
        while (at > 0 && waits_since(l, now, turns[at - 1]) > waits_since(l, now, i)) {
            turns[at] = turns[at - 1];
            at--;
        }
        turns[at] = i;
        n++;
    }
    for (uint32_t k = 0; k < l->count; k++) {
        uint32_t i = (uint32_t)((l->begun + k) % l->count);
        if (!waits(l, now, i)) {
            turns[n++] = i;
        }
    }
}

bool cwn_lanes_slice(cwn_lanes *l, cwp_time now, const cwn_witness *w, cwn_record *r)
{
    uint32_t turns[CWS_MOST_LANES];
    submit(l, now);
    find_turns(l, now, turns);
    for (uint32_t k = 0; k < l->count && !cwn_lanes_failed(l); k++) {
        uint32_t i = turns[k];
        bool held = now < w->held_until && gives_up_at(l, i) > now;
        if (l->sender[i] != NULL && !held && poll_sender(l, now, i, r)) {
            l->sender[i]->spoke_at = now;
            submit(l, now);
            return true;
        }
    }
    return false;
}

cwp_time cwn_lanes_slice_at(const cwn_lanes *l, const cwn_witness *w)
{
    cwp_time at = CWP_NEVER;
    for (uint32_t i = 0; i < l->count; i++) {
        cwp_time t = cwn_witness_hold(w, sender_deadline(l, i), gives_up_at(l, i));
        at = t < at ? t : at;
    }
    return at;
}

cwp_time cwn_lanes_ack_at(const cwn_lanes *l)
{
    cwp_time at = CWP_NEVER;
    for (uint32_t i = 0; i < l->count; i++) {
        cwp_time t = receiver_deadline(l, i);
        at = t < at ? t : at;
    }
    return at;
}

/* ---- The path ----------------------------------------------------------------------- */

static void refresh(cwn_lanes *l)
{
    for (uint32_t i = 0; !is_base(l) && i < l->count; i++) {
        cwn_lane_sender *s = l->sender[i];
        if (s != NULL && repairs(l)) {
            cwr_rule_refresh(&s->scheduler.rule);
        } else if (s != NULL) {
            cw_recovery_refresh(&s->scheduler.recovery);
        }
    }
}

void cwn_lanes_yield(cwn_lanes *l, bool yields)
{
    l->path.yields = yields;
    refresh(l);
}

/* CXM-16 */
void cwn_lanes_marks(cwn_lanes *l, uint32_t count)
{
    cwr_control_marks(&l->path, count);
    refresh(l);
}

void cwn_lanes_forget_path(cwn_lanes *l, cwp_time now)
{
    cwr_control_forget_path(&l->path, now);
    for (uint32_t i = 0; i < l->count; i++) {
        cwn_lane_sender *s = l->sender[i];
        if (s != NULL && repairs(l)) {
            cwr_rule_forget_path(&s->scheduler.rule);
        } else if (s != NULL && is_base(l)) {
            cw_base_forget_path(&s->scheduler.base);
        } else if (s != NULL) {
            cw_recovery_forget_path(&s->scheduler.recovery);
        }
    }
    refresh(l);
}
