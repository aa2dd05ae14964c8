/* Congestion avoidance (section 9). See chunkwire_packet.h. */
#include "chunkwire_packet.h"

#define SECOND ((cwp_time)1000000)
#define RTT_BAD ((cwp_time)250000)
#define FIRST_RECOVERY (4 * SECOND)
#define SHORTEST_RECOVERY (1 * SECOND)
#define LONGEST_RECOVERY (60 * SECOND)
#define SHORT (10 * SECOND)
#define REWARD (10 * SECOND)
#define INTERVAL_GOOD ((cwp_time)33333)
#define INTERVAL_BAD ((cwp_time)100000)

static cwp_time earliest(cwp_time a, cwp_time b) { return a < b ? a : b; }
static cwp_time latest(cwp_time a, cwp_time b) { return a > b ? a : b; }

void cwp_congestion_init(cwp_congestion *c, cwp_profile profile)
{
    c->mode = CWP_BAD;
    c->recovery = FIRST_RECOVERY;
    c->next_at = 0;
    c->profile = profile;
    c->good_since = CWP_NEVER;
    c->entered = 0;
    c->halved = 0;
    c->last_sent = CWP_UNKNOWN;
}

/* C3, as often as its guard holds: few times, since recovery is at most 60 s. */
static void reward(cwp_congestion *c, cwp_time now)
{
    while (c->mode == CWP_GOOD && c->recovery > SHORTEST_RECOVERY && now - c->halved >= REWARD) {
        c->recovery = latest(c->recovery / 2, SHORTEST_RECOVERY);
        c->halved += REWARD;
    }
}

/* PKC-4 */
static cwp_time rtt_bad(const cwp_congestion *c, cwp_time min_rtt)
{
    if (c->profile == CWP_ARTICLE || min_rtt == CWP_UNKNOWN) {
        return RTT_BAD;
    }
    return latest(RTT_BAD, min_rtt * 3 / 2);
}

/* C1, C2 */
static void enter_bad(cwp_congestion *c, cwp_time now)
{
    if (now - c->entered < SHORT) {
        c->recovery = earliest(2 * c->recovery, LONGEST_RECOVERY);
    }
    c->mode = CWP_BAD;
    c->good_since = CWP_NEVER;
    if (c->last_sent != CWP_UNKNOWN) {
        c->next_at = latest(c->next_at, c->last_sent + INTERVAL_BAD); /* PKC-3 */
    }
}

/* C5 to C8 */
static void wait(cwp_congestion *c, cwp_time now, bool good)
{
    if (!good) {
        c->good_since = CWP_NEVER;
        return;
    }
    c->good_since = earliest(c->good_since, now);
    if (now - c->good_since >= c->recovery) {
        c->mode = CWP_GOOD;
        c->entered = now;
        c->halved = now;
    }
}

cwp_mode cwp_congestion_evaluate(cwp_congestion *c, cwp_time now, cwp_time srtt, cwp_time min_rtt, bool silent)
{
    bool known = srtt != CWP_UNKNOWN;
    bool bad = silent || (known && srtt > rtt_bad(c, min_rtt)); /* PKC-1 */
    reward(c, now);
    if (c->mode == CWP_BAD) {
        wait(c, now, known && !bad);
    } else if (bad) {
        enter_bad(c, now);
    }
    return c->mode;
}

void cwp_congestion_sent(cwp_congestion *c, cwp_time now)
{
    c->next_at = latest(c->next_at + (c->mode == CWP_GOOD ? INTERVAL_GOOD : INTERVAL_BAD), now);
    c->last_sent = now;
}

cwp_time cwp_congestion_deadline(const cwp_congestion *c)
{
    if (c->mode == CWP_GOOD) {
        return c->recovery > SHORTEST_RECOVERY ? c->halved + REWARD : CWP_NEVER;
    }
    return c->good_since == CWP_NEVER ? CWP_NEVER : c->good_since + c->recovery;
}
