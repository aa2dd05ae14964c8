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
        private const long Part = 4;
        private const long OpenFactor = 3;
        private const long QuietMost = 32;
        private const long DoublePart = 8;
        private const long FoeRows = 6;
        private const long TargetLeast = 5 * Limits.Millisecond;
        private const long TargetMost = 20 * Limits.Millisecond;
        private const long PriorLost = 2;
        private const long PriorPassed = 32;
        private const long CalmMost = 8192;
        private const long CalmPart = 2;
        private const long OpenPart = 8;
        private const long SumMost = 64;
        private const long Variances = 18;
        private const long GapSize = 2;
        private const long FirstLost = 16;
        private const long FirstArrived = 16 * PriorPassed;
        private const long MostCounted = 16 * 1024;

        // The limit, and the decision at hand.
        private long limit = FirstLimit;
        private long step = Step;
        private long quiet;
        private long ceiling;
        private long low;
        private bool opening = true;
        private long beganAt;
        private long decidesAt;
        private long countsAt;
        private long least;
        private long waits;
        private long samples;
        private long leastWait;
        private long most;
        private long roundLost;
        private long roundPassed;
        private long marked;

        // Whose the queue is (OTH-2 to OTH-4).
        private bool others;
        private long above;
        private long from;
        private long fromSpeed;
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

        // The circuit breaker (BRK-3 to BRK-5).
        private bool broken;
        private long calmAt;
        private long groupLost;
        private long groupPassed;

        // Losses of late (CAP-8).
        private long lost = FirstLost;
        private long arrived = FirstArrived;

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
                long t = Math.Min(Math.Max(minRtt / Part, TargetLeast), TargetMost);
                return Yields ? t / 2 : t;
            }
        }

        /// <summary>How long it is until a decision (DCS-6).</summary>
        private long DecisionTime
        {
            get { return latest + latest / Part; }
        }

        /// <summary>RPL-4 of REPAIR.md: how many slices have to be under way for the missing ones to arrive.</summary>
        /// <param name="missing">How many are missing.</param>
        /// <param name="deviations">The square of the number of standard deviations.</param>
        /// <param name="atMost">The largest result.</param>
        public long Need(int missing, int deviations, int atMost)
        {
            long l = Math.Min(lost, 32 * arrived);
            long m = 256 * missing * l / arrived;
            long v = m + m * l / arrived;
            v += v * 16 * missing / arrived;
            return Math.Min(missing + (m + Root(256 * deviations * v) + 128) / 256, atMost);
        }

        /// <summary>The largest number whose square is at most x.</summary>
        private static long Root(long x)
        {
            long root = 0;
            for (long bit = 1L << 31; bit > 0; bit >>= 1)
            {
                long wider = root | bit;
                if (wider <= x / wider) root = wider;
            }
            return root;
        }

        /// <summary>CAP-8.</summary>
        private void CountLosses(int n, long missing)
        {
            arrived += 16 * n;
            lost = Math.Max(lost + 16 * missing, 0);
            if (lost + arrived <= MostCounted) return;
            lost /= 2;
            arrived = Math.Max(arrived / 2, 1);
        }

        /// <summary>The time of the next decision begins (DCS-3, DCS-6).</summary>
        private void Restart(long now)
        {
            most = flight * Whole;
            roundLost = roundPassed = waits = samples = least = countsAt = 0;
            beganAt = now;
            decidesAt = now + DecisionTime;
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
                decidesAt = now + DecisionTime;
                beganAt = calmAt = now;
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
            Wait(latest - minRtt);
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
            return Math.Min(calmLost + PriorLost, b / CalmPart);
        }

        /// <summary>LSS-3, LSS-8.</summary>
        private void ForgetCalm()
        {
            calmLost = calmPassed = 0;
        }

        /// <summary>LSS-1; of LSS-3, where the same is lost after a cut.</summary>
        private bool Exceeds(long missing, long passed, bool same)
        {
            long p = Calm(out long b);
            if (opening) p = Math.Max(p, b / OpenPart);
            if (same) p = b / CalmPart;
            long e = Whole * passed * p / b;
            long x = Whole * missing - e;
            return x > 0 && x * x > Variances * Whole * (e * (b - p) / b);
        }

        /// <summary>Whether most of the calm loss is not lost at a lower rate (LSS-3).</summary>
        private bool IsGone(long missing, long passed)
        {
            long p = Calm(out long b);
            return passed * p >= Part * b && 2 * missing * b < passed * p;
        }

        /// <summary>DCS-9.</summary>
        private void Wait(long w)
        {
            leastWait = samples > 0 ? Math.Min(leastWait, w) : w;
            waits += w;
            samples++;
        }

        /// <summary>DCS-7: a queue that does not empty is full, however short it is.</summary>
        private bool HasShortQueue(long t)
        {
            if (samples == 0) return false;
            long average = waits / samples;
            bool stands = samples >= Part && 2 * leastWait > average && leastWait > t / (Part * Part);
            return !stands && average <= t / Part;
        }

        /// <summary>LSS-6.</summary>
        private void Learn(long missing, long passed, bool isShort)
        {
            long p = Calm(out long b);
            if (!isShort && missing * b > passed * p) return;
            calmLost += 16 * missing;
            calmPassed += 16 * passed;
            if (calmPassed <= 16 * CalmMost) return;
            calmLost /= 2;
            calmPassed /= 2;
        }

        /// <summary>LSS-3.</summary>
        private void EndLook(long missing, long passed, bool isShort)
        {
            bool same = limitBefore > 0 && isShort && passed > 0 && Part * lostBefore >= passedBefore
                && Part * missing * passedBefore >= (Part - 1) * lostBefore * passed;
            phase = Phase.Steady;
            if (same) Learn(lostBefore, passedBefore, isShort);
            if (IsGone(missing, passed)) ForgetCalm();
            Learn(missing, passed, isShort);
            if (limitBefore > 0 && !broken && !Exceeds(lostBefore, passedBefore, same))
            {
                limit = Math.Max(limit, limitBefore);
                ceiling = ceilingBefore;
                opening = openingBefore;
            }
            sumLost = sumPassed = limitBefore = ceilingBefore = lostBefore = passedBefore = 0;
            openingBefore = false;
        }

        /// <summary>Whether more was lost than does not depend on the rate (LSS-2 to LSS-4).</summary>
        private bool JudgeLoss(long t)
        {
            bool isShort = HasShortQueue(t);
            long missing = Math.Max(roundLost, 0), passed = Math.Max(roundPassed, 0);
            if (phase == Phase.Recovers)
            {
                phase = Phase.Looks;
                marked = 0;
                return false;
            }
            sumLost += missing;
            sumPassed += passed;
            if (phase == Phase.Looks)
            {
                bool mayTell = limitBefore == 0 || sumPassed * lostBefore >= Part * passedBefore || sumLost >= Part;
                if (mayTell) EndLook(sumLost, sumPassed, isShort);
                return false;
            }
            if (Exceeds(sumLost, sumPassed, false)) return true;
            while (sumPassed > SumMost)
            {
                sumLost /= 2;
                sumPassed /= 2;
            }
            if (limit <= low + low / Part) Learn(missing, passed, isShort);
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
            bool lossy = JudgeLoss(t);
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
                CutForLoss(now, used, Math.Min(to, Math.Min(used - used / Part, passed * 7 / 8)));
            }
            else if (marked > 0)
            {
                CutForLoss(now, used, Math.Min(to, used - used / Part));
            }
            else if (to < used)
            {
                Cut(to);
                ceiling = 0;
            }
            else if (full && !opening && !broken && phase != Phase.Looks)
            {
                Grow(q < t / 2);
                if (q > t / 2 && !others) limit -= (used - half) / Part; // DLY-3
            }
            marked = 0;
            JudgeBreaker(now);
        }

        /// <summary>GRO-1 to GRO-5.</summary>
        private void Grow(bool isShort)
        {
            long leastStep = others ? Whole : Step;
            if (others ? hit : !isShort)
            {
                step = leastStep;
                quiet = 0;
            }
            else if (!others && limit < ceiling)
            {
                step = Math.Max(Step, (ceiling - limit) / QuietMost);
                quiet = 0;
            }
            else
            {
                quiet++;
                step = quiet > QuietMost ? Math.Max(Math.Min(2 * step, limit / DoublePart), leastStep) : leastStep;
            }
            limit += Math.Min(step, limit / Part);
        }

        /// <summary>OTH-2, OTH-3.</summary>
        private void JudgeOthers(long now, long used, long q, long t)
        {
            if (others)
            {
                if (now >= drainAt && !hit) BeginDrain(now, latest);
                return;
            }
            if (q <= t)
            {
                if (q <= t / 2) above = Math.Max(above - 1, 0);
                return;
            }
            long speed = Math.Max(roundPassed - roundLost, 0) * 1_000_000 / Math.Max(now - beganAt, 1); // DCS-7
            if (above == 0)
            {
                from = used;
                fromSpeed = speed;
            }
            if (++above < FoeRows) return;
            above = 0;
            if (used > Whole && Part * speed >= (Part - 1) * fromSpeed) return;
            others = true;
            hit = false;
            quiet = 0;
            limit = Math.Max(limit, from);
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
            if (groupPassed < SumMost) return;
            if (CalmPart * groupLost <= groupPassed)
            {
                broken = false;
                calmAt = now;
            }
            if (now - calmAt >= Life)
            {
                broken = true;
                Cut(LeastLimit);
            }
            groupLost = groupPassed = 0;
        }
    }
}
