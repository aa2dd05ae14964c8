/* What an endpoint learns of its path (section 8). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

#define SECOND ((cwp_time)1000000)
#define MIN_RTT_PERIOD (5 * SECOND)

static cwp_time smaller(cwp_time a, cwp_time b) { return a < b ? a : b; }

/* PKE-2, PKE-3; C99 divides toward zero. */
void cwp_round_trip_sample(cwp_round_trip *t, cwp_time now, cwp_time r)
{
    t->latest = r;
    if (!t->measured) {
        t->measured = true;
        t->srtt = r;
        t->jitter = 0;
        t->period_at = now;
        t->smallest = r;
        t->before = r;
    } else {
        cwp_time d = r > t->srtt ? r - t->srtt : t->srtt - r;
        t->jitter += (d - t->jitter) / 16;
        t->srtt += (r - t->srtt) / 10;
    }
    if (now - t->period_at >= MIN_RTT_PERIOD) {
        t->period_at = now;
        t->before = t->smallest;
        t->smallest = r;
    }
    t->smallest = smaller(t->smallest, r);
    t->min_rtt = smaller(t->smallest, t->before);
}

/* PKE-4: below 16 it does not fall any more. */
cwp_time cwp_patience_at(cwp_patience *p, cwp_time now)
{
    int64_t second = now / SECOND;
    for (; p->second < second && p->value >= 16; p->second++) {
        p->value -= p->value / 16;
    }
    if (p->second < second) {
        p->second = second;
    }
    return p->value;
}

void cwp_patience_overtaken(cwp_patience *p, cwp_time now, cwp_time latency, cwp_time srtt)
{
    cwp_time v = smaller(latency * 9 / 8, srtt * 3 / 2);
    if (v > cwp_patience_at(p, now)) {
        p->value = v;
    }
}

/* PKE-9: the second that now is in, and the ten before. */
void cwp_seconds_add(cwp_seconds *s, cwp_time now, uint64_t amount)
{
    int64_t second = now / SECOND;
    size_t i = (size_t)(second % CWP_SECONDS);
    if (s->second[i] != second) {
        s->second[i] = second;
        s->sum[i] = 0;
    }
    s->sum[i] += amount;
}

uint64_t cwp_seconds_sum(const cwp_seconds *s, cwp_time now)
{
    int64_t second = now / SECOND;
    uint64_t sum = 0;
    for (size_t i = 0; i < CWP_SECONDS; i++) {
        if (s->second[i] < second && s->second[i] > second - CWP_SECONDS) {
            sum += s->sum[i];
        }
    }
    return sum;
}

/* PKE-7 */
uint64_t cwp_seconds_rate(const cwp_seconds *s, cwp_time now)
{
    return cwp_seconds_sum(s, now) * 8 / (CWP_SECONDS - 1);
}

void cwp_loss_settled(cwp_loss *l, cwp_time now, bool lost)
{
    cwp_seconds_add(&l->settled, now, 1);
    cwp_seconds_add(&l->lost, now, lost ? 1 : 0);
}

int cwp_loss_per_mille(const cwp_loss *l, cwp_time now)
{
    uint64_t settled = cwp_seconds_sum(&l->settled, now);
    return settled > 0 ? (int)(1000 * cwp_seconds_sum(&l->lost, now) / settled) : -1;
}

/* ---- Figures for display (PKE-6) -------------------------------------------- */

void cwp_shown_add(cwp_shown *s, cwp_time latency)
{
    s->latency[s->next] = (uint32_t)smaller(latency, CWP_LONGEST_SHOWN);
    s->next = (s->next + 1) % CWP_SHOWN;
    s->count += s->count < CWP_SHOWN ? 1u : 0u;
}

/* The square root, rounded down, bit by bit. */
static uint64_t isqrt(uint64_t v)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= v) {
            root += bit;
        }
    }
    return root;
}

bool cwp_shown_figures(const cwp_shown *s, cwp_figures *f)
{
    uint64_t sum = 0;
    uint64_t squares = 0;
    if (s->count == 0) {
        return false;
    }
    f->min = CWP_LONGEST_SHOWN;
    f->max = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        f->min = smaller(f->min, s->latency[i]);
        f->max = s->latency[i] > f->max ? s->latency[i] : f->max;
        sum += s->latency[i];
    }
    f->avg = (cwp_time)(sum / s->count);
    f->jitter_avg = (cwp_time)((sum - (uint64_t)f->min * s->count) / s->count);
    f->jitter_max = f->max - f->min;
    for (uint32_t i = 0; i < s->count; i++) {
        int64_t d = (int64_t)s->latency[i] - f->avg;
        squares += (uint64_t)(d * d);
    }
    f->jitter_dev = (cwp_time)isqrt(squares / s->count);
    return true;
}
