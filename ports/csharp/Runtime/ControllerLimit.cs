using System;

namespace Chunkwire
{
    /// <summary>
    /// The decisions of each round trip: the limit (RECOVERY.md, section 6), whose the queue is (section 7),
    /// and losses that the rate causes (section 8).
    /// </summary>
    internal sealed partial class Controller
    {
        private const long TargetLeast = 5 * Limits.Millisecond;
        private const long TargetMost = 20 * Limits.Millisecond;
        private const long SumMost = 256;
        private const long CalmMost = 1024;
        private const long CalmPrior = 64;
        private const long AlarmFirst = Limits.Second;
        private const long Rises = 8;
        private const long RiseSlack = 5 * Limits.Millisecond;
        private const long LeastRise = 10 * Limits.Millisecond;
        private const long CalmQueue = 5 * Limits.Millisecond;
        private const long CalmRounds = 2;
        private const long Quiet = 20 * Limits.Second;
        private const long Steady = 4;
        private const long SteadyBand = 2 * Limits.Millisecond;
        private const long Crowd = 64;
        private const long MuchLost = 128;
        private const long LeastLost = 16;
        private const long MostLost = 768;
        private const long CapBad = 4;
        private const long FirstWait = 24;
        private const long LongestWait = 384;
        private const long FirstLost = 16;
        private const long FirstArrived = 512;
        private const long Settled = 1536;
        private const long Prior = 448;
        private const long MostCounted = 16384;

        // The limit (LMT-1).
        private long limit = FirstLimit;
        private long step = 8;
        private bool opening = true;
        private long roundAt;
        private long closesAt;
        private long low;
        private long lowBefore;
        private long most;
        private bool full;
        private bool blocked;
        private long roundLost;
        private long roundPassed;
        private long marked;
        private long sumLost;
        private long sumPassed;
        private long calmLost;
        private long calmPassed;
        private long noise;

        // Whose the queue is (CTD-7).
        private bool contested;
        private long calmRounds;
        private long rises;
        private long risesFrom;
        private long row;
        private long rowAt;
        private long rowLimit;
        private long rowLost;
        private bool abrupt;
        private long flat;
        private long flatLow;

        // Losses that a rate causes (CAP-1), and those of late (CAP-8).
        private long cap;
        private bool seeking;
        private long bad;
        private long raisedAt;
        private long look;
        private long lossBefore;
        private long calm;
        private long lookAt;
        private long wait;
        private long accountAt;
        private long accountArrived;
        private long accountLost;
        private long lost = FirstLost;
        private long arrived = FirstArrived;
        private bool settled;

        /// <summary>How many acks were to be expected (PTO-7).</summary>
        private long ExpectedAcks
        {
            get { return unanswered * arrived / (arrived + lost) * arrived / (arrived + lost); }
        }

        /// <summary>t of LMT-2.</summary>
        private long Target
        {
            get { return Math.Min(Math.Max(minRtt / 4, TargetLeast), TargetMost); }
        }

        /// <summary>q of LMT-2.</summary>
        private long Queue
        {
            get { return low - minRtt - noise; }
        }

        /// <summary>CAP-8.</summary>
        private void CountLosses(int n, int missing)
        {
            arrived += 16 * n;
            lost = Math.Max(lost + 16 * missing, 0);
            if (!settled && arrived >= Settled)
            {
                arrived -= Prior;
                settled = true;
            }
            if (lost + arrived <= MostCounted) return;
            lost /= 2;
            arrived = Math.Max(arrived / 2, 1);
        }

        /// <summary>LMT-1, LMT-2.</summary>
        private void OnRound(long now, int n, int missing)
        {
            roundLost += missing;
            roundPassed += n + missing;
            if (opening && latest - minRtt - noise <= Target / 2)
            {
                limit += 8 * Math.Max(Math.Min(2 * (n + missing), 3 * n), 0);
                limit = Math.Min(limit, Math.Max(3 * most, FirstLimit));
            }
            if (!sampled) return;
            sampled = false;
            if (roundAt == 0) roundAt = now + latest;
            if (closesAt == 0)
            {
                if (now < roundAt) return;
                closesAt = now + latest / 4;
                low = latest;
                return;
            }
            low = Math.Min(low, latest);
            if (now >= closesAt) CloseRound(now);
        }

        /// <summary>LMT-2, steps 4 and 5.</summary>
        private void CloseRound(long now)
        {
            Decide(now);
            lowBefore = low;
            most = 8 * flight;
            full = false;
            roundLost = roundPassed = marked = closesAt = 0;
            roundAt = now + latest;
        }

        private void Decide(long now)
        {
            long f = full ? limit : Math.Min(most, limit);
            bool lossy = IsLossy();
            if (roundLost >= 3 && Queue <= Target) Alarm(now, f);
            JudgeContest(now, f);
            long q = Queue, t = Target; // CTD-4 may have changed them
            if (drainUntil != 0) return; // LMT-8
            if (contested) AnswerLoss(f, lossy);
            else if (q > t) Cut(Math.Max(f * (minRtt + noise + t / 2) / low, f / 2)); // LMT-5
            else if (marked > 0 || (lossy && q > t / 2)) Cut(f * 7 / 8); // LMT-6
            else if (full && !opening) Grow(q < t / 2);
        }

        /// <summary>LMT-4.</summary>
        private void Alarm(long now, long f)
        {
            bool mayDrain = drainUntil == 0 && now - busySince >= AlarmFirst && now - endedAt >= gap;
            if (8 * roundLost >= roundPassed && !contested && mayDrain) BeginDrain(now, latest);
            if (!opening || 4 * roundLost < roundPassed || Queue < Target / 8) return;
            opening = false;
            step = Math.Max(f / 4, 1);
        }

        /// <summary>CTD-6.</summary>
        private void AnswerLoss(long f, bool lossy)
        {
            if (lossy) limit = Math.Max(f * 7 / 10, LeastLimit);
            else if (full) limit += Math.Min(8, limit / 4);
        }

        /// <summary>LMT-5, LMT-6.</summary>
        private void Cut(long size)
        {
            limit = Math.Max(size, LeastLimit);
            step = 8;
            opening = false;
        }

        /// <summary>LMT-7.</summary>
        private void Grow(bool empty)
        {
            if (!empty) step = 8;
            limit += step;
            if (empty) step = Math.Min(2 * step, limit / 2);
            step = Math.Max(step, Math.Max(Math.Min(8, limit / 4), 1));
        }

        /// <summary>LMT-3.</summary>
        private bool IsLossy()
        {
            sumLost += roundLost;
            sumPassed += roundPassed;
            long e = 5 * sumPassed * calmLost / (4 * (calmPassed + CalmPrior));
            long beyond = sumLost - e - 2 * Isqrt(e);
            bool lossy = beyond > 2 || (contested && beyond > 0) || marked > 0;
            if (lossy)
            {
                sumLost = sumPassed = 0;
            }
            else if (sumPassed > SumMost)
            {
                sumLost /= 2;
                sumPassed /= 2;
            }
            if (!contested && Queue <= Target / 2) CountCalm();
            return lossy;
        }

        /// <summary>LMT-3, step 4.</summary>
        private void CountCalm()
        {
            calmLost += Math.Max(roundLost, 0);
            calmPassed += Math.Max(roundPassed, 0);
            if (calmPassed <= CalmMost) return;
            calmLost /= 2;
            calmPassed /= 2;
        }

        /// <summary>CTD-7.</summary>
        private void JudgeContest(long now, long f)
        {
            if (drainUntil != 0) return;
            long q = Queue, t = Target;
            if (contested)
            {
                if (q > Math.Max(t, CalmQueue)) calmRounds = 0;
                else if (++calmRounds == CalmRounds) EndContest(now);
                return;
            }
            if (q <= t)
            {
                rises = row = 0;
                return;
            }
            CountRise(q);
            CountRow(now, f, q, t);
            bool yielded = limit <= Math.Max(rowLimit / 2, TwoSlices);
            bool rose = rises >= Rises && low >= risesFrom + Math.Max(t * 3 / 2, LeastRise);
            bool steady = yielded && flat >= Steady && abrupt && 8000 * q > Crowd * Math.Max(f, TwoSlices) * Math.Min(PerSlice, Slowest);
            if (rose) Contest(now, Math.Max(f, rowLimit / 2)); // CTD-1
            else if (steady) Reopen(); // CTD-4
            else if (yielded && rowLost == 0 && now - rowAt >= Quiet) Contest(now, Math.Max(f, rowLimit)); // CTD-2
        }

        /// <summary>CTD-8, step 1.</summary>
        private void CountRise(long q)
        {
            if (rises == 0)
            {
                rises = 1;
                risesFrom = low;
            }
            else if (low > lowBefore)
            {
                rises++;
            }
            else if (low < lowBefore - Math.Max(RiseSlack, q / 16))
            {
                rises = 0;
            }
        }

        /// <summary>CTD-8, steps 2 to 4.</summary>
        private void CountRow(long now, long f, long q, long t)
        {
            if (row == 0)
            {
                rowAt = now;
                rowLimit = f;
                rowLost = flat = 0;
                abrupt = false;
            }
            row++;
            rowLost += roundLost;
            abrupt = abrupt || q > 2 * t;
            if (roundLost > 0) return;
            if (flat > 0 && Math.Abs(low - flatLow) <= Math.Max(SteadyBand, minRtt / 32))
            {
                flat++;
                return;
            }
            flat = 1;
            flatLow = low;
        }

        /// <summary>The path becomes contested (CTD-1).</summary>
        private void Contest(long now, long x)
        {
            contested = true;
            calmRounds = rises = row = 0;
            limit = Math.Max(x, TwoSlices);
            drainUntil = 0;
            drainAt = now + DrainEvery;
        }

        /// <summary>CTD-3.</summary>
        private void EndContest(long now)
        {
            contested = false;
            rises = row = 0;
            drainAt = now + DrainSoon;
        }

        /// <summary>CTD-4.</summary>
        private void Reopen()
        {
            if (low - minRtt <= minRtt)
            {
                noise = low - minRtt;
            }
            else
            {
                minRtt = low;
                noise = 0;
            }
            limit = Math.Max(limit, rowLimit);
            opening = true;
            row = 0;
        }

        private void BeginAccount(long at)
        {
            accountAt = at;
            accountArrived = accountLost = 0;
        }

        /// <summary>CAP-1.</summary>
        private void OnAccount(long now, int n, int missing)
        {
            long srtt = roundTrip.Srtt;
            if (srtt == 0 || now < accountAt) return;
            accountArrived += n;
            accountLost = Math.Max(accountLost + missing, 0);
            RaiseCap(now);
            long enough = look > 0 ? 64 : cap > 0 ? 32 : 128;
            long rounds = cap > 0 && look == 0 ? 4 : 8;
            long all = accountArrived + accountLost, time = now - accountAt;
            if (all == 0 || time < srtt || (all < enough && time < rounds * srtt)) return;
            long p = accountLost * 1024 / all;
            long interval = 1000 * RoundTrip.Clip(time) / Math.Max(accountArrived, 1);
            if (look > 0) JudgeLook(now, all, p, interval);
            else if (cap > 0) JudgeCap(now, all, p, interval);
            else Suspect(now, p, interval);
        }

        /// <summary>CAP-7.</summary>
        private void RaiseCap(long now)
        {
            if (cap == 0 || look > 0 || seeking || now - raisedAt < roundTrip.Srtt) return;
            raisedAt = now;
            long d = 4000 * roundTrip.Srtt + cap;
            cap = Math.Max(cap - (cap * cap + d - 1) / d, 1);
        }

        /// <summary>CAP-2.</summary>
        private void Suspect(long now, long p, long interval)
        {
            long a = arrival;
            if (train && gained >= 2) a = Math.Max(a, 1000 * RoundTrip.Clip(now - trainSince - pause) / gained);
            if (p < MuchLost || accountLost < LeastLost || p <= calm * 5 / 4 + 16 || now < lookAt)
            {
                BeginAccount(now);
                return;
            }
            look = Math.Max(a, Math.Min(PerSlice * 7 / 8, Slowest));
            lossBefore = p;
            if (p >= MostLost || a == 0) look = Math.Min(Math.Max(look, interval), Slowest);
            BeginAccount(now + latest);
        }

        /// <summary>CAP-3, CAP-4.</summary>
        private void JudgeLook(long now, long all, long p, long interval)
        {
            long e = lossBefore * all / 1024;
            if (4 * accountLost < 3 * e && accountLost + 3 * Isqrt(accountLost + 1) < e)
            {
                cap = Math.Min(Math.Max(look, interval), Slowest);
                seeking = true;
                bad = look = 0;
                lost = Math.Min(lost, arrived * (calm + 8) / (1024 - Math.Min(calm, 1000)));
            }
            else if (p >= MostLost && interval >= 2 * look && interval < Slowest)
            {
                look = interval;
            }
            else
            {
                calm = p;
                look = 0;
                wait = Math.Min(Math.Max(2 * wait, FirstWait), LongestWait);
                lookAt = now + wait * roundTrip.Srtt;
            }
            BeginAccount(now + latest);
        }

        /// <summary>CAP-5, CAP-6.</summary>
        private void JudgeCap(long now, long all, long p, long interval)
        {
            long e = 5 * calm * all / 4096;
            if (accountLost <= e + 2 + 2 * Isqrt(e))
            {
                bad = 0;
                if (seeking) cap = cap * 3 / 4;
                if (cap < PerSlice * 5 / 8) cap = 0;
                BeginAccount(now);
                return;
            }
            bad++;
            if (bad >= CapBad && 2 * p > lossBefore)
            {
                cap = 0;
                calm = p;
            }
            else
            {
                cap = Math.Min(Math.Max(cap * 8 / 7, Math.Min(interval, 2 * cap)), Slowest);
                seeking = false;
            }
            BeginAccount(now + latest);
        }

        /// <summary>The largest integer whose square is at most x.</summary>
        private static long Isqrt(long x)
        {
            long low = 0, high = 3037000499;
            while (low < high)
            {
                long middle = (low + high + 1) / 2;
                if (middle * middle <= x) low = middle;
                else high = middle - 1;
            }
            return low;
        }
    }
}
