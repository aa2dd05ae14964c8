/* Marks of congestion (section 8.2). See connection_parts.h. */
#include "connection_parts.h"

#include <string.h>

#define ECN_TIME ((cwp_time)1000000)

enum { ECN_PROBES = 10, MOST_COUNT = 0xFFFF };

void cwn_marks_init(cwn_marks *m)
{
    memset(m, 0, sizeof *m);
    m->grew_at = CWP_NEVER;
    m->largest = m->newest = m->latest = -1;
}

/* CXM-13 */
void cwn_marks_came(cwn_marks *m, cwn_ecn ecn)
{
    m->arrived += ecn == CWN_ECT0 || ecn == CWN_CE;
    m->congested += ecn == CWN_CE;
}

/* ---- ECT(0) numbers: bits of the latest CWN_ECN_NUMBERS up to the largest ---------- */

static uint32_t *word(cwn_marks *m, int64_t number) { return &m->ect0[number % CWN_ECN_NUMBERS / 32]; }

static uint32_t bit(int64_t number) { return (uint32_t)1 << number % 32; }

static bool is_ect0(cwn_marks *m, int64_t number)
{
    return number <= m->largest && number > m->largest - CWN_ECN_NUMBERS && (*word(m, number) & bit(number)) != 0;
}

static void add(cwn_marks *m, int64_t number)
{
    if (number - m->largest > CWN_ECN_NUMBERS) {
        memset(m->ect0, 0, sizeof m->ect0);
        m->largest = number;
    }
    while (m->largest < number) {
        m->largest++;
        *word(m, m->largest) &= ~bit(m->largest);
    }
    *word(m, number) |= bit(number);
}

bool cwn_marks_sends(cwn_marks *m, cwp_time now, int64_t number)
{
    bool trusted = m->grew_at != CWP_NEVER && now - m->grew_at < ECN_TIME;
    if (m->failed || (m->probes >= ECN_PROBES && !trusted)) {
        return false;
    }
    m->sent++;
    m->probes++;
    add(m, number);
    return true;
}

/* ---- What the peer counted ------------------------------------------------------ */

void cwn_marks_took(cwn_marks *m, int64_t number) { m->latest = number > m->latest ? number : m->latest; }

void cwn_marks_heard(cwn_marks *m, int64_t number, const cwn_record *ecn)
{
    if (number < m->newest) {
        return;
    }
    m->newest = number;
    m->heard = true;
    if (ecn != NULL) {
        m->said_arrived = ecn->arrived;
        m->said_congested = ecn->congested;
    }
}

void cwn_marks_acked(cwn_marks *m, int64_t number) { m->acked += is_ect0(m, number); }

uint32_t cwn_marks_settle(cwn_marks *m, cwp_time now)
{
    uint32_t arrived = (m->said_arrived - m->judged_arrived) & MOST_COUNT;
    uint32_t congested = (m->said_congested - m->judged_congested) & MOST_COUNT;
    if (!m->heard) {
        return 0;
    }
    m->heard = false;
    m->judged_arrived = m->said_arrived;
    m->judged_congested = m->said_congested;
    if (m->failed || congested > arrived || arrived > m->sent - m->counted) {
        m->failed = true;
        return 0;
    }
    m->counted += arrived;
    if (arrived > 0) {
        m->probes = 0;
        m->grew_at = now;
    }
    m->failed = m->acked > m->counted && m->newest == m->latest;
    return congested;
}

/* CXM-17 */
void cwn_marks_forget_path(cwn_marks *m)
{
    m->failed = false;
    m->acked = m->counted;
    memset(m->ect0, 0, sizeof m->ect0);
    m->probes = 0;
    m->grew_at = CWP_NEVER;
}
