using System;

namespace Chunkwire
{
    /// <summary>The limit: what may be in flight, and the decisions about it (RECOVERY.md).</summary>
    internal sealed partial class Controller
    {
        private const long Whole = 64;
        private const long FirstLimit = 16 * Whole;
        private const long LeastLimit = Whole / 2;
        private const long TwoSlices = 2 * Whole;
        private const long DrainSlices = 4;
        private const long Step = 24;
        private const long FightStep = 64;
        private const long OpenFactor = 3;
        private const long BackPart = 32;
        private const long QuietMost = 32;
        private const long DoublePart = 8;
        private const long MostPart = 4;
        private const long ShrinkPart = 4;
        private const long FoeRows = 6;
        private const long Decay = 128;
        private const long TargetLeast = 5 * Limits.Millisecond;
        private const long TargetMost = 20 * Limits.Millisecond;
        private const long EmptyLeast = Limits.Millisecond;
        private const long EmptyPart = 16;
        private const long PriorLost = 2;
        private const long PriorPassed = 32;
        private const long CalmMost = 8192;
        private const long CapPart = 2;
        private const long OpenPart = 8;
        private const long DeepPart = 64;
        private const long DeepLife = 30 * Limits.Second;
        private const long SumMost = 64;
        private const long OneSpread = 16;
        private const long SpreadMost = 4;
        private const long SpreadPart = 8;
        private const long GapSlices = 3;
        private const long BreakAfter = 10 * Limits.Second;
        private const long BreakPart = 4;
        private const long BreakAny = 2;
        private const long BreakSlices = 16;
        private const long FirstLost = 16;
        private const long FirstArrived = 512;
        private const long Settled = 1536;
        private const long Prior = 448;
        private const long MostCounted = 16384;

        // The limit, and the decision at hand.
        private long limit = FirstLimit;
        private long step = Step;
        private long quiet;
        private long ceiling;
        private long low;
        private bool opening = true;
        private long decidesAt;
        private long countsAt;
        private long least;
        private long waits;
        private long samples;
        private long most;
        private long roundLost;
        private long roundPassed;
        private long marked;

        // Whose the queue is (OTH-1 to OTH-4).
        private bool others;
        private long above;
        private long from;
        private long peak;
        private bool hit;

        // The answer to loss (LSS-1 to LSS-8), and what was before the latest cut; a limit of 0: nothing that can be undone.
        private Phase phase = Phase.Steady;
        private long limitBefore;
        private long ceilingBefore;
        private long lostBefore;
        private long passedBefore;
        private bool openingBefore;
        private long sumLost;
        private long sumPassed;
        private long calmLost;
        private long calmPassed;
        private long spread = OneSpread;
        private long deepUntil;

        // The circuit breaker (BRK-3 to BRK-5).
        private bool broken;
        private long littleAt;
        private long halfAt;
        private long groupLost;
        private long groupPassed;

        // Losses of late (CAP-8).
        private long lost = FirstLost;
        private long arrived = FirstArrived;
        private bool settled;

        private enum Phase
        {
            Steady,
            Recovers,
            Looks,
        }

        /// <summary>How many slices may be in flight (ROOM-1).</summary>
        public long PathSlices
        {
            get
            {
                long slices = Math.Max(limit, TwoSlices) / Whole;
                return drainUntil != 0 ? Math.Min(slices, DrainSlices) : slices;
            }
        }

        /// <summary>ROOM-1, PRO-2, PRO-4.</summary>
        public bool HasRoom
        {
            get { return mode == RecoveryMode.Burst || mode == RecoveryMode.Fixed || flight < PathSlices; }
        }

        /// <summary>How many acks were to be expected (PTO-7).</summary>
        private long ExpectedAcks
        {
            get { return unanswered * arrived / (arrived + lost) * arrived / (arrived + lost); }
        }

        /// <summary>ROOM-3, DCS-7.</summary>
        private long Target
        {
            get
            {
                long t = Math.Min(Math.Max(minRtt / 4, TargetLeast), TargetMost);
                return Yields ? t / 2 : t;
            }
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

        /// <summary>The time of the next decision begins (DCS-3, DCS-6).</summary>
        private void Restart(long now)
        {
            most = flight * Whole;
            roundLost = roundPassed = waits = samples = least = countsAt = 0;
            decidesAt = now + latest * 5 / 4;
        }

        /// <summary>DCS-1.</summary>
        private void Decide(long now, long n, long missing)
        {
            roundLost += missing;
            roundPassed += missing + n;
            Open(n);
            if (latest == 0) return;
            if (decidesAt == 0)
            {
                decidesAt = now + latest * 5 / 4;
                littleAt = halfAt = now;
            }
            CountSample(now);
            if (now < decidesAt) return;
            Judge(now);
            Restart(now);
        }

        /// <summary>DCS-2.</summary>
        private void CountSample(long now)
        {
            if (!sampled) return;
            sampled = false;
            waits += latest - minRtt;
            samples++;
            if (now >= countsAt && (least == 0 || (now <= decidesAt && latest < least))) least = latest;
        }

        /// <summary>ROOM-4, ROOM-5.</summary>
        private void Open(long n)
        {
            if (!opening || n <= 0 || latest - minRtt > Target / 2) return;
            long wider = Math.Min(limit + (OpenFactor - 1) * Whole * n, OpenFactor * most);
            if (ceiling > 0 && wider >= ceiling)
            {
                wider = ceiling;
                opening = false;
            }
            limit = Math.Max(limit, wider);
        }

        /// <summary>ROOM-6, DLY-2.</summary>
        private void Cut(long to)
        {
            limit = Math.Max(to, LeastLimit);
            step = Step;
            quiet = 0;
            opening = false;
        }

        /// <summary>Calm loss, p of b (LSS-1).</summary>
        private long Calm(out long b)
        {
            b = calmPassed + 16 * PriorPassed;
            return Math.Min(calmLost + PriorLost, b / CapPart);
        }

        /// <summary>LSS-8.</summary>
        private void ForgetCalm()
        {
            calmLost = calmPassed = 0;
            spread = OneSpread;
        }

        /// <summary>LSS-1.</summary>
        private bool Exceeds(bool deep)
        {
            long p = Calm(out long b);
            if (opening) p = Math.Max(p, b / OpenPart);
            if (deep) p = Math.Max(p, b / DeepPart);
            long e = Whole * sumPassed * p / b;
            long x = Whole * sumLost - e;
            return x > 0 && x * x > 36 * spread * e;
        }

        /// <summary>LSS-6.</summary>
        private void Learn(long missing, long passed, bool empty)
        {
            long p = Calm(out long b);
            long e = Whole * passed * p / b;
            long x = Whole * missing - e;
            if (!empty && x > 0) return;
            if (empty && e >= Whole && CapPart * p < b)
            {
                long seen = Math.Min(Math.Max(x * x / (4 * e), OneSpread), OneSpread * SpreadMost);
                spread += (seen - spread) / SpreadPart;
            }
            calmLost += 16 * missing;
            calmPassed += 16 * passed;
            if (calmPassed <= 16 * CalmMost) return;
            calmLost /= 2;
            calmPassed /= 2;
        }

        /// <summary>LSS-3.</summary>
        private void EndLook(long missing, long passed, bool empty)
        {
            phase = Phase.Steady;
            Learn(missing, passed, empty);
            sumLost = lostBefore;
            sumPassed = passedBefore;
            if (limitBefore > 0 && !broken && !Exceeds(false))
            {
                limit = Math.Max(limit, limitBefore);
                ceiling = ceilingBefore;
                opening = openingBefore;
            }
            sumLost = sumPassed = limitBefore = ceilingBefore = lostBefore = passedBefore = 0;
            openingBefore = false;
        }

        /// <summary>Whether more was lost than does not depend on the rate (LSS-2 to LSS-4).</summary>
        private bool JudgeLoss(long now, long q, long t)
        {
            bool empty = samples > 0 && waits / samples <= Math.Max(EmptyLeast, minRtt / EmptyPart);
            long missing = Math.Max(roundLost, 0), passed = Math.Max(roundPassed, 0);
            switch (phase)
            {
                case Phase.Recovers:
                    phase = Phase.Looks;
                    marked = 0;
                    return false;
                case Phase.Looks:
                    EndLook(missing, passed, empty);
                    return false;
            }
            sumLost += missing;
            sumPassed += passed;
            if (Exceeds(now < deepUntil && !others && q <= t)) return true;
            if (q > t) deepUntil = now + DeepLife;
            while (sumPassed > SumMost)
            {
                sumLost /= 2;
                sumPassed /= 2;
            }
            if (limit <= low * 5 / 4) Learn(missing, passed, empty);
            return false;
        }

        /// <summary>LSS-5, ECN-3, OTH-3.</summary>
        private void CutForLoss(long now, long used, long to)
        {
            Cut(to);
            ceiling = used;
            low = limit;
            hit = true;
            phase = Phase.Recovers;
            sumLost = sumPassed = 0;
            if (others && now >= drainAt) BeginDrain(now, latest);
        }

        /// <summary>The decision (DCS-8).</summary>
        private void Judge(long now)
        {
            long smallest = least == 0 ? minRtt : least;
            long q = smallest - minRtt, t = Target;
            bool lossy = JudgeLoss(now, q, t);
            if (drainUntil != 0) return; // marks wait
            long used = Math.Min(most, limit);
            bool full = most + Whole > limit * 7 / 8;
            JudgeOthers(now, used, q, t);
            long half = used * (minRtt + t / 2) / smallest;
            long to = q > t && !others ? Math.Max(half, used / 2) : used;
            if (lossy)
            {
                long passed = used * Math.Max(roundPassed - roundLost, 0) / Math.Max(roundPassed, 1);
                limitBefore = limit;
                ceilingBefore = ceiling;
                lostBefore = sumLost;
                passedBefore = sumPassed;
                openingBefore = opening;
                CutForLoss(now, used, Math.Min(to, Math.Min(used * 3 / 4, passed * 7 / 8)));
            }
            else if (marked > 0)
            {
                CutForLoss(now, used, Math.Min(to, used * 4 / 5));
            }
            else if (to < used)
            {
                Cut(to);
                ceiling = 0;
            }
            else if (full && !opening && !broken)
            {
                Grow(q < t / 2);
                if (q > t / 2 && !others) limit -= (used - half) / ShrinkPart; // DLY-3
            }
            marked = 0;
            JudgeBreaker(now);
        }

        /// <summary>GRO-1 to GRO-5.</summary>
        private void Grow(bool empty)
        {
            long doubled = Math.Min(2 * step, limit / DoublePart);
            if (others && hit)
            {
                step = FightStep;
                quiet = 0;
            }
            else if (others)
            {
                quiet++;
                step = quiet <= QuietMost ? FightStep : Math.Max(doubled, FightStep);
            }
            else if (!empty)
            {
                step = Step;
                quiet = 0;
            }
            else if (limit < ceiling)
            {
                step = Math.Max(Step, (ceiling - limit) / BackPart);
                quiet = 0;
            }
            else
            {
                quiet++;
                if (quiet == 1) step = Step;
                if (quiet > QuietMost) step = Math.Max(doubled, Step);
            }
            limit += Math.Min(step, limit / MostPart);
        }

        /// <summary>OTH-1 to OTH-3.</summary>
        private void JudgeOthers(long now, long used, long q, long t)
        {
            peak = Math.Max(peak - peak / Decay, used);
            if (others)
            {
                if (now >= drainAt && !hit) BeginDrain(now, latest);
                return;
            }
            if (q <= t)
            {
                above = Math.Max(above - 1, 0);
                return;
            }
            if (above == 0) from = used;
            if (++above < FoeRows) return;
            others = true;
            above = 0;
            hit = false;
            quiet = 0;
            limit = Math.Max(limit, Math.Max(from, peak / 2));
            drainUntil = 0;
            drainAt = now + DrainFirst;
        }

        private void AddToGroup(long missing, long passed)
        {
            groupLost += missing;
            groupPassed += passed;
        }

        /// <summary>BRK-3 to BRK-5.</summary>
        private void JudgeBreaker(long now)
        {
            AddToGroup(Math.Max(roundLost, 0), Math.Max(roundPassed, 0));
            if (groupPassed < BreakSlices) return;
            if (BreakPart * groupLost <= groupPassed)
            {
                broken = false;
                littleAt = now;
            }
            if (BreakAny * groupLost <= groupPassed) halfAt = now;
            if (now - halfAt >= BreakAfter || (now - littleAt >= BreakAfter && limit <= TwoSlices))
            {
                broken = true;
                Cut(LeastLimit);
            }
            groupLost = groupPassed = 0;
        }
    }
}
