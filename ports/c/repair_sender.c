/* The sender of repair slices (section 5). See chunkwire_repair.h. */
#include "chunkwire_repair.h"

#include <string.h>

static cw_time later(cw_time a, cw_time b) { return a > b ? a : b; }

bool cwr_sender_init(cwr_sender *s, uint32_t first_id, cw_time give_up, cwr_scheduler *scheduler)
{
    memset(s, 0, sizeof *s);
    if (first_id > 0xFFFF || give_up < 1 || give_up > CW_MAX_GIVE_UP) {
        return false;
    }
    s->state = CW_IDLE;
    s->chunk = NULL;
    s->chunk_id = first_id;
    s->give_up = give_up;
    s->scheduler = scheduler;
    return true;
}

cwr_sender_row cwr_sender_submit(cwr_sender *s, cw_time now, const uint8_t *chunk, size_t size)
{
    now = s->latest = later(s->latest, now);
    if (s->state == CW_SENDING) {
        return CWR_T3;
    }
    if (s->state == CW_SENDER_FAILED) {
        return CWR_T4;
    }
    if (size < 1 || size > CW_MAX_CHUNK) { /* SND-1, LIM-1 */
        return CWR_T2;
    }
    s->chunk = chunk; /* RPX-5 */
    s->size = size;
    s->num_slices = cw_num_slices(size);
    s->heard_at = now;
    s->scheduler->start(s->scheduler, now, s->num_slices);
    s->state = CW_SENDING;
    return CWR_T1;
}

/* RPX-8 */
static void drop_chunk(cwr_sender *s)
{
    s->chunk = NULL;
    s->size = 0;
    s->num_slices = 0;
    s->sent = 0;
    s->have = 0;
    s->top = 0;
}

/* The number of top, or -1 if the ack is foreign (RPX-3). */
static int64_t top_of(const cwr_sender *s, const cwr_ack *ack)
{
    int64_t top;
    if (ack->chunk_id != s->chunk_id || ack->num_slices != s->num_slices || ack->have > ack->num_slices) {
        return -1;
    }
    top = cwr_number(s->num_slices, ack->top, s->sent);
    return (int64_t)ack->have <= top ? top : -1;
}

/* NOTE and, if nothing is missing any more, COMPLETE (RPX-6, RPX-8). */
static cwr_sender_row note(cwr_sender *s, cw_time now, uint32_t have, uint64_t top)
{
    s->heard_at = now;
    s->have = have > s->have ? have : s->have;
    s->top = top > s->top ? top : s->top;
    s->scheduler->news(s->scheduler, now, s->have, s->top);
    if (s->have < s->num_slices) {
        return CWR_T9;
    }
    s->chunk_id = (s->chunk_id + 1) & 0xFFFFu;
    drop_chunk(s);
    s->state = CW_IDLE;
    return CWR_T10;
}

/* RPX-4 */
cwr_sender_row cwr_sender_ack(cwr_sender *s, cw_time now, const cwr_ack *ack)
{
    int64_t top;
    now = s->latest = later(s->latest, now);
    if (s->state != CW_SENDING) {
        return s->state == CW_IDLE ? CWR_T5 : CWR_T11;
    }
    top = top_of(s, ack);
    if (top < 0) {
        return CWR_T6;
    }
    if (ack->have > s->have || (uint64_t)top > s->top) {
        return note(s, now, ack->have, (uint64_t)top);
    }
    if (s->have == 0 && s->top == 0 && s->sent > 0) {
        s->heard_at = now; /* SND-11 */
        s->scheduler->hold(s->scheduler, now);
        return CWR_T8;
    }
    return CWR_T7;
}

/* RPX-7 */
static void send_slice(cwr_sender *s, cwr_slice *out)
{
    out->chunk_id = s->chunk_id;
    out->id = cwr_id(s->num_slices, s->sent);
    out->num_slices = s->num_slices;
    out->last_bytes = (uint32_t)cw_slice_bytes(s->size, s->num_slices - 1);
    out->data = s->slice;
    out->size = cwr_encode_slice(s->chunk, s->size, out->id, s->slice);
    s->sent++;
}

cwr_sender_row cwr_sender_poll(cwr_sender *s, cw_time now, cwr_slice *slice)
{
    now = s->latest = later(s->latest, now);
    if (s->state != CW_SENDING) {
        return s->state == CW_IDLE ? CWR_T12 : CWR_T16;
    }
    if (now - s->heard_at >= s->give_up) { /* SND-9, SND-19 */
        drop_chunk(s);
        s->state = CW_SENDER_FAILED;
        return CWR_T15;
    }
    if (!s->scheduler->next(s->scheduler, now)) {
        return CWR_T14;
    }
    send_slice(s, slice);
    return CWR_T13;
}

/* SND-16 */
cw_time cwr_sender_deadline(const cwr_sender *s)
{
    cw_time give_up_at = s->heard_at + s->give_up;
    cw_time at;
    if (s->state != CW_SENDING) {
        return CW_NEVER;
    }
    at = s->scheduler->deadline(s->scheduler);
    return at < give_up_at ? at : give_up_at;
}
