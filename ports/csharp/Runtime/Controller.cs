using System;

namespace Chunkwire
{
    /// <summary>Which of the profiles of RECOVERY.md, section 14.</summary>
    public enum RecoveryMode
    {
        /// <summary>The default: it controls congestion, and may share its path with TCP and others.</summary>
        Adaptive,

        /// <summary>More copies: 5 to 10 % more bytes where there is loss, for fewer late ends.</summary>
        Redundant,

        /// <summary>Does not ask what the path carries; for private paths (PROTOCOL.md, section 1.3).</summary>
        Burst,

        /// <summary>A rate that the application knows; for private paths.</summary>
        Fixed,
    }

    /// <summary>
    /// What a sender knows of the path: round trip, limit, pace and back-off (RECOVERY.md).
    /// Times are in microseconds, intervals in nanoseconds, the limit is in 64ths of a slice. 0 is no time and no interval.
    /// </summary>
    internal sealed partial class Controller
    {
        private const long Life = 10 * Limits.Second;
        private const long DrainFirst = 2500 * Limits.Millisecond;
        private const long DrainMisses = 3;
        private const long Fastest = 7000;
        private const long Slowest = 1000000000;
        private const int MostDoubled = 10;
        private const long SilentDelays = 3;
        private const long SilentAcks = 8;
        private const long CatchUp = 20 * Limits.Millisecond;
        private const long BurstInterval = 85000;

        private readonly RecoveryMode mode;
        private readonly long limitInterval;
        private RoundTrip roundTrip;
        private int flight;
        private bool active;

        // The round trip and drains (EST-1 to EST-10).
        private long latest;
        private bool sampled;
        private long minRtt;
        private long sampleAt;
        private long drainUntil;
        private long drainFullAt;
        private long drainMin;
        private long drainAt;
        private bool fell;
        private long misses;

        // Pace and timers.
        private long paceAt; // microseconds, which hold every time, and a rest of nanoseconds below 1000
        private long paceNanos;
        private long heardAt;
        private long timeouts;
        private long unanswered;
        private long suspects;
        private bool silenced;

        /// <summary>The controller of who knows nothing (REC-8).</summary>
        /// <param name="mode">The profile.</param>
        /// <param name="rate">PRO-1: the limit in bits a second with headers, 0 for none.</param>
        public Controller(RecoveryMode mode, long rate)
        {
            this.mode = mode;
            limitInterval = rate == 0 ? 0 : 8 * Profile.BudgetMin * 1000000000L / rate;
            roundTrip = new RoundTrip(0);
        }

        /// <summary>Whether other packets on the path must not wait behind slices (ROOM-3).</summary>
        public bool Yields { get; set; }

        /// <summary>The time before which no probe is sent (PTO-2).</summary>
        public long ProbeAt { get; private set; }

        /// <summary>The estimate of the round trip.</summary>
        public RoundTrip RoundTrip
        {
            get { return roundTrip; }
        }

        /// <summary>EST-5: no ack comes back sooner.</summary>
        public long Least
        {
            get { return minRtt * 15 / 16; }
        }

        /// <summary>The time from which ROOM-7 holds.</summary>
        public long SilentAt
        {
            get { return heardAt + roundTrip.BaseDelay; }
        }

        /// <summary>When the pace lets the next slice be sent, rounded up (REC-7).</summary>
        public long PaceAt
        {
            get { return paceNanos > 0 ? paceAt + 1 : paceAt; }
        }

        /// <summary>So many slices are in flight now.</summary>
        public void SetFlight(int slices)
        {
            flight = slices;
            most = Math.Max(most, Whole * slices);
        }

        /// <summary>All of the chunk has arrived.</summary>
        public void Leave()
        {
            SetFlight(0);
            active = false;
        }

        /// <summary>The controller's part of REC-2.</summary>
        public void OnBegin(long now)
        {
            if (!active) Resume(now);
            active = true;
            SetFlight(0);
            roundTrip.Start();
        }

        /// <summary>REC-11, SUS-3, SUS-4.</summary>
        /// <param name="now">The time.</param>
        /// <param name="n">Slices that arrived.</param>
        /// <param name="missing">Slices that were found lost; below 0 if losses are taken back (RPL-5).</param>
        public void OnNews(long now, int n, long missing)
        {
            long counted = missing;
            if (n > 0)
            {
                if (!silenced && active && limit < (GapSize + 1) * Whole) counted += suspects;
                else AddToGroup(suspects, suspects);
                heardAt = now;
                suspects = timeouts = unanswered = ProbeAt = 0; // PTO-6
                silenced = false;
            }
            if (drainUntil != 0 && now >= drainUntil)
            {
                EndDrain(now); // without EST-10
                Restart(now);
            }
            CountLosses(n, missing);
            Decide(now, n, counted);
        }

        /// <summary>ECN-1.</summary>
        public void OnMarks(int count)
        {
            marked += count;
        }

        /// <summary>PTO-3, PTO-7, SUS-1: a timer has given up so many slices.</summary>
        public void OnTimer(long now, int givenUp)
        {
            long delay = roundTrip.BaseDelay;
            suspects += givenUp;
            ProbeAt = now + Math.Min(delay << (int)Math.Min(timeouts, MostDoubled), Math.Max(delay, Slowest / 1000));
            timeouts++;
            if (!roundTrip.IsMeasured)
            {
                limit = Math.Max(Math.Min(limit, most) / 2, TwoSlices);
            }
            else if (!silenced && now - heardAt >= SilentDelays * delay && ExpectedAcks >= SilentAcks)
            {
                ceiling = limit;
                limit = Math.Max(limit / 2, Math.Min(limit, TwoSlices));
            }
            else
            {
                return;
            }
            silenced = true;
            step = Step;
            quiet = 0;
            opening = !broken;
        }

        /// <summary>SUS-2: of what a timer had given up, so many slices have arrived, if above 0.</summary>
        public void OnLate(long count)
        {
            suspects = Math.Max(suspects - Math.Max(count, 0), 0);
        }

        /// <summary>EST-2, LSS-8, OTH-4.</summary>
        public void OnCleanSample(long now, long r)
        {
            r = Math.Max(RoundTrip.Clip(r), 1);
            long was = minRtt, t = Target;
            roundTrip.Measure(r);
            latest = r;
            sampled = true;
            bool ended = SampleMinRtt(now, r, t, out bool near);
            if (was - minRtt >= t / Part) ForgetCalm();
            if (!ended) return;
            if (near && others)
            {
                others = false;
                above = 0;
                drainAt = now + Life;
            }
            Restart(now);
        }

        /// <summary>A sample that is not clean (EST-3).</summary>
        public void OnResentSample(long r)
        {
            r = Math.Max(RoundTrip.Clip(r), 1);
            roundTrip.Smooth(r);
            Wait(Math.Max(r - minRtt, 0));
        }

        /// <summary>RTT-4 (EST-4).</summary>
        public void FindBound(long r)
        {
            roundTrip.Limit(r);
        }

        /// <summary>REC-5: whether what the sender wants to send is sent.</summary>
        /// <param name="now">The time.</param>
        /// <param name="wanted">Whether there is something.</param>
        /// <param name="fresh">Whether it was never sent.</param>
        /// <param name="idle">Whether there was nothing at the latest poll.</param>
        public bool Goes(long now, bool wanted, bool fresh, bool idle)
        {
            if (idle) PaceFrom(now); // PAC-5
            if (!wanted || now < PaceAt) return false;
            unanswered++;
            PaceFrom(now - CatchUp); // PAC-4
            long nanos = paceNanos + Interval(fresh);
            paceAt += nanos / 1000;
            paceNanos = nanos % 1000;
            return true;
        }

        /// <summary>No slice is sent before.</summary>
        private void PaceFrom(long time)
        {
            if (paceAt >= time) return;
            paceAt = time;
            paceNanos = 0;
        }

        /// <summary>IDL-1, IDL-2, DCS-4.</summary>
        private void Resume(long now)
        {
            long idle = now - heardAt;
            if (decidesAt == 0) return;
            if (idle >= latest)
            {
                heardAt = now;
                beganAt += idle;
                decidesAt += idle;
                calmAt += idle;
                drainAt = Math.Max(drainAt, now + DrainFirst);
                for (; idle >= 2 * Life && limit > FirstLimit; idle -= Life) limit = Math.Max(limit / 2, FirstLimit);
            }
            if (countsAt != 0) return;
            countsAt = now + DecisionTime;
            decidesAt = Math.Max(decidesAt, countsAt + latest / Part);
        }

        /// <summary>EST-6 to EST-10, with the target as it was before the sample; returns whether a drain has ended, and whether its smallest sample was near.</summary>
        private bool SampleMinRtt(long now, long r, long t, out bool near)
        {
            bool forgotten = minRtt == 0 || now - sampleAt >= Life;
            near = false;
            sampleAt = now;
            if (forgotten) // EST-6
            {
                minRtt = r;
                misses = 0;
                drainAt = now + DrainFirst;
                drainUntil = 0;
                return false;
            }
            if (r < minRtt) NoteFall(now, r, t);
            bool ended = EndsDrain(now, r, t, out near);
            if (drainUntil == 0 && now >= drainAt && (!others || now - drainAt >= Life)) BeginDrain(now, r); // EST-7
            return ended;
        }

        /// <summary>EST-8.</summary>
        private void NoteFall(long now, long r, long t)
        {
            if (minRtt - r >= t / Part)
            {
                fell = true;
                if (drainUntil == 0 && !others) BeginDrain(now, r);
            }
            minRtt = r;
        }

        /// <summary>EST-9 and EST-10, with a sample; returns whether a drain ended.</summary>
        private bool EndsDrain(long now, long r, long t, out bool near)
        {
            near = false;
            if (drainUntil == 0) return false;
            drainMin = Math.Min(drainMin, r);
            near = drainMin <= minRtt + t / 2;
            if (now < drainUntil && (!near || fell || now < drainFullAt)) return false;
            EndDrain(now);
            if (near) misses = 0;
            else if (++misses == DrainMisses)
            {
                minRtt = drainMin;
                misses = 0;
            }
            return true;
        }

        /// <summary>EST-7.</summary>
        private void BeginDrain(long now, long r)
        {
            drainUntil = now + 2 * Math.Max(roundTrip.Srtt, r);
            drainFullAt = now + r;
            drainMin = r;
        }

        /// <summary>EST-9.</summary>
        private void EndDrain(long now)
        {
            drainUntil = 0;
            drainAt = now + (fell ? DrainFirst : Life);
            fell = false;
        }

        /// <summary>The interval after a slice, in nanoseconds (PRO-1, PRO-2, PRO-4).</summary>
        private long Interval(bool fresh)
        {
            if (fresh && mode == RecoveryMode.Burst) return Math.Max(BurstInterval, limitInterval);
            if (mode == RecoveryMode.Fixed) return Math.Max(limitInterval, Fastest);
            return Math.Max(IntervalOfPath(), Math.Max(Fastest, limitInterval));
        }

        /// <summary>PAC-3, PAC-8, PAC-9.</summary>
        private long IntervalOfPath()
        {
            if (minRtt == 0) return BurstInterval;
            long ns = roundTrip.Srtt * 1000 * Whole / limit;
            if (opening) ns /= 2;
            else if (limit >= TwoSlices) ns = ns * 15 / 16;
            return Math.Min(ns, Slowest);
        }
    }
}
