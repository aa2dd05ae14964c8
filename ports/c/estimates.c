/* Round trip, patience and loss (section 8). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

#define SECOND ((cwp_time)1000000)
#define PERIOD (5 * SECOND)
#define LONGEST_SAMPLE ((cwp_time)1 << 40)

static cwp_time smaller(cwp_time a, cwp_time b) { return a < b ? a : b; }

void cwp_round_trip_init(cwp_round_trip *t)
{
    t->latest = CWP_UNKNOWN;
    t->srtt = CWP_UNKNOWN;
    t->jitter = CWP_UNKNOWN;
    t->min_rtt = CWP_UNKNOWN;
    t->period_at = 0;
    t->smallest = 0;
    t->before = 0;
}

/* PKE-3 */
static void take_smallest(cwp_round_trip *t, cwp_time now, cwp_time r)
{
    cwp_time age = now - t->period_at;
    if (t->min_rtt == CWP_UNKNOWN) {
        t->period_at = now;
        t->smallest = r;
        t->before = r;
    } else if (age >= PERIOD) {
        t->before = age < 2 * PERIOD ? t->smallest : r;
        t->period_at += age / PERIOD * PERIOD;
        t->smallest = r;
    }
    t->smallest = smaller(t->smallest, r);
    t->min_rtt = smaller(t->smallest, t->before);
}

/* PKE-2; C99 divides toward zero. */
void cwp_round_trip_sample(cwp_round_trip *t, cwp_time now, cwp_time r)
{
    r = smaller(r, LONGEST_SAMPLE);
    t->latest = r;
    if (t->srtt == CWP_UNKNOWN) {
        t->srtt = r;
        t->jitter = 0;
    } else {
        cwp_time d = r > t->srtt ? r - t->srtt : t->srtt - r;
        t->jitter += (d - t->jitter) / 16;
        t->srtt += (r - t->srtt) / 10;
    }
    take_smallest(t, now, r);
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

void cwp_patience_overtaken(cwp_patience *p, cwp_time now, cwp_time age, cwp_time srtt)
{
    cwp_time most = srtt * 3 / 2;
    cwp_time v = age > most ? most : smaller(age * 9 / 8, most); /* no product of a large age */
    if (v > cwp_patience_at(p, now)) {
        p->value = v;
    }
}

void cwp_loss_settled(cwp_loss *l, cwp_time now, bool lost)
{
    int64_t second = now / SECOND;
    size_t i = (size_t)(second % (CWP_LOSS_SECONDS + 1));
    if (l->second[i] != second) {
        l->second[i] = second;
        l->settled[i] = 0;
        l->lost[i] = 0;
    }
    l->settled[i]++;
    l->lost[i] += lost ? 1u : 0u;
}

int cwp_loss_per_mille(const cwp_loss *l, cwp_time now)
{
    int64_t second = now / SECOND;
    uint64_t settled = 0;
    uint64_t lost = 0;
    for (size_t i = 0; i <= CWP_LOSS_SECONDS; i++) {
        if (l->second[i] < second && l->second[i] >= second - CWP_LOSS_SECONDS) {
            settled += l->settled[i];
            lost += l->lost[i];
        }
    }
    return settled > 0 ? (int)(1000 * lost / settled) : -1;
}
