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
    /// What a sender knows of the path: round trip, rate, window, limit, pace and back-off (RECOVERY.md, sections 3 to 10 and 13).
    /// Times are in microseconds, intervals in nanoseconds, the limit is in eighths of a slice. 0 is no time and no interval.
    /// </summary>
    internal sealed partial class Controller
    {
        private const long AckDelay = 2 * Limits.Millisecond;
        private const long MinRttLife = 10 * Limits.Second;
        private const long DrainFirst = 2500 * Limits.Millisecond;
        private const long DrainEvery = 10 * Limits.Second;
        private const long DrainLate = 7 * Limits.Second;
        private const long DrainSoon = 500 * Limits.Millisecond;
        private const long DrainMisses = 3;
        private const long Fall = Limits.Millisecond;
        private const long LongTrain = 16;
        private const long ShortTrain = 4;
        private const long TrainTime = 20 * Limits.Millisecond;
        private const long RateEpoch = 10 * Limits.Millisecond;
        private const long Fastest = 7000;
        private const long Slowest = 1000000000;
        private const long YieldWindow = 20;
        private const long DrainWindow = 4;
        private const long MostWindow = int.MaxValue;
        private const long FirstLimit = 256;
        private const long LeastLimit = 4;
        private const long TwoSlices = 16;
        private const long LongestProbe = Limits.Second;
        private const int MostDoubled = 10;
        private const long SilentTimers = 3;
        private const long SilentAcks = 8;
        private const long CatchUp = 20 * Limits.Millisecond * 1000;
        private const long BurstInterval = 85000;

        private readonly RecoveryMode mode;
        private readonly long limitInterval;
        private RoundTrip roundTrip;
        private int flight;

        // The round trip and drains (EST-1 to EST-10).
        private long latest;
        private bool sampled;
        private long minRtt;
        private long sampleAt;
        private long drainUntil;
        private long drainFullAt;
        private long drainMin;
        private long drainAt;
        private long endedAt;
        private long gap;
        private bool fell;
        private long misses;
        private long busySince;

        // The rate (RAT-1 to RAT-5).
        private bool train;
        private long trainSince;
        private long trainNewsAt;
        private long gained;
        private long goneBy;
        private long pause;
        private long arrival;
        private long rateOfEpoch;
        private long rateBefore;
        private long epochAt;
        private long ranDryAt = -Limits.Never;

        // Pace and timers (sections 9 and 10).
        private long paceAt; // ns
        private long heardAt;
        private long timeouts;
        private long unanswered;
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

        /// <summary>Whether other packets on the path must not wait behind slices (WIN-5).</summary>
        public bool Yields { get; set; }

        /// <summary>The time before which no probe goes (PTO-2).</summary>
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

        /// <summary>The time from which LMT-10 holds.</summary>
        public long SilentAt
        {
            get { return heardAt + roundTrip.BaseDelay; }
        }

        /// <summary>When the pace lets the next slice go, rounded up (REC-7).</summary>
        public long PaceAt
        {
            get { return (paceAt + 999) / 1000; }
        }

        /// <summary>WIN-6.</summary>
        public long PathSlices
        {
            get { return contested && drainUntil == 0 ? LimitInSlices : Math.Min(Window, LimitInSlices); }
        }

        /// <summary>Nanoseconds that the path takes for a slice, 0 while it is unknown (RAT-5, PRO-4).</summary>
        private long PerSlice
        {
            get { return mode == RecoveryMode.Fixed ? Math.Max(limitInterval, Fastest) : Known; }
        }

        /// <summary>The smallest sample of two epochs, 0 for none (RAT-5).</summary>
        private long Known
        {
            get { return rateBefore == 0 ? rateOfEpoch : Math.Min(rateOfEpoch, rateBefore); }
        }

        /// <summary>LMT-9, WIN-5.</summary>
        private long LimitInSlices
        {
            get
            {
                long slices = Math.Max(limit, TwoSlices) / 8;
                return Yields && PerSlice == 0 ? Math.Min(slices, YieldWindow) : slices;
            }
        }

        /// <summary>WIN-1, WIN-2, WIN-4, WIN-5.</summary>
        private long Window
        {
            get
            {
                if (PerSlice == 0) return MostWindow;
                if (drainUntil != 0) return DrainWindow;
                long slices = (minRtt + AckDelay) * 1000 / PerSlice;
                if (!Yields) slices = slices * 3 / 2;
                return Math.Min(slices + 8, MostWindow);
            }
        }

        /// <summary>So many slices are in flight now (LMT-1).</summary>
        public void SetFlight(int slices)
        {
            flight = slices;
            most = Math.Max(most, 8 * slices);
        }

        /// <summary>The controller's part of REC-2.</summary>
        public void OnBegin(long now)
        {
            busySince = now;
            look = 0;
            BeginAccount(now);
            roundTrip.Start();
            EndTrain();
        }

        /// <summary>REC-11.</summary>
        /// <param name="now">The time.</param>
        /// <param name="n">Slices that arrived.</param>
        /// <param name="passed">Transmissions that are now known to have passed the path.</param>
        /// <param name="missing">Slices that were found lost.</param>
        public void OnNews(long now, int n, int passed, int missing)
        {
            if (n > 0)
            {
                heardAt = now;
                timeouts = unanswered = ProbeAt = 0; // PTO-6
                silenced = false;
            }
            if (drainUntil != 0 && now >= drainUntil) EndDrain(now); // without EST-10
            CountLosses(n, missing);
            OnTrain(now, n, passed);
            OnAccount(now, n, missing);
            OnRound(now, n, missing);
        }

        /// <summary>The train is forgotten (RAT-1).</summary>
        public void EndTrain()
        {
            train = false;
        }

        /// <summary>ECN-1.</summary>
        public void OnMarks(int count)
        {
            marked += count;
        }

        /// <summary>PTO-3, PTO-7.</summary>
        public void OnTimer(long now)
        {
            EndTrain();
            long x = roundTrip.IsMeasured ? roundTrip.BaseDelay / 8 : roundTrip.BaseDelay;
            ProbeAt = now + Math.Min(x << (int)Math.Min(timeouts, MostDoubled), LongestProbe);
            timeouts++;
            if (!roundTrip.IsMeasured) limit = Math.Max(Math.Min(limit, most) / 2, TwoSlices);
            else if (!silenced && timeouts >= SilentTimers && ExpectedAcks >= SilentAcks) limit = Math.Max(limit / 2, Math.Min(limit, TwoSlices));
            else return;
            silenced = true;
            step = Math.Max(limit / 4, 1);
        }

        /// <summary>EST-2.</summary>
        public void OnCleanSample(long now, long r)
        {
            r = Math.Max(RoundTrip.Clip(r), 1);
            roundTrip.Measure(r);
            latest = r;
            sampled = true;
            bool forgotten = minRtt == 0 || now - sampleAt >= MinRttLife;
            sampleAt = now;
            if (forgotten) // EST-6
            {
                minRtt = r;
                misses = 0;
                drainAt = now + DrainFirst;
                drainUntil = 0;
                return;
            }
            if (r < minRtt) NoteFall(now, r);
            bool ended = EndsDrain(now, r, out bool near);
            bool busy = contested || now - busySince >= DrainFirst || now - drainAt >= DrainLate;
            if (drainUntil == 0 && now >= drainAt && busy) BeginDrain(now, r); // EST-7
            if (!ended) return;
            noise = noise * 3 / 4; // CTD-5
            if (contested && near) EndContest(now);
        }

        /// <summary>RTT-5, for a sample that is not clean (EST-3).</summary>
        public void Follow(long r)
        {
            roundTrip.Smooth(r);
        }

        /// <summary>RTT-4 (EST-4).</summary>
        public void FindBound(long r)
        {
            roundTrip.Limit(r);
        }

        /// <summary>Something else than the path and the pace held the sender back (RAT-4).</summary>
        public void RanDry(long now)
        {
            ranDryAt = now;
        }

        /// <summary>WIN-3, LMT-9.</summary>
        public bool HasRoom()
        {
            if (mode == RecoveryMode.Burst || mode == RecoveryMode.Fixed) return true;
            if (flight >= LimitInSlices)
            {
                full = blocked = true;
                return false;
            }
            return (contested && drainUntil == 0) || flight < Window;
        }

        /// <summary>REC-5 from step 3 on: whether what the sender wants to send goes out.</summary>
        /// <param name="now">The time.</param>
        /// <param name="wanted">Whether there is something.</param>
        /// <param name="fresh">Whether it was never sent.</param>
        /// <param name="idle">Whether there was nothing at the latest poll.</param>
        public bool Goes(long now, bool wanted, bool fresh, bool idle)
        {
            if (drainUntil != 0 || blocked)
            {
                RanDry(now);
                blocked = false;
            }
            if (idle) paceAt = Math.Max(paceAt, 1000 * now); // PAC-5
            if (!wanted || 1000 * now < paceAt) return false;
            if (paceAt < 1000 * now - CatchUp) RanDry(now); // PAC-4
            unanswered++;
            paceAt = Math.Max(paceAt, 1000 * now - CatchUp) + Interval(fresh);
            return true;
        }

        /// <summary>EST-8.</summary>
        private void NoteFall(long now, long r)
        {
            if (minRtt - r >= Fall)
            {
                fell = true;
                if (drainUntil == 0 && !contested) BeginDrain(now, r);
            }
            minRtt = r;
        }

        /// <summary>EST-9 and EST-10, with a sample; returns whether a drain ended.</summary>
        private bool EndsDrain(long now, long r, out bool near)
        {
            near = false;
            if (drainUntil == 0) return false;
            drainMin = Math.Min(drainMin, r);
            near = drainMin <= minRtt + Math.Max(minRtt / 8, AckDelay);
            if (now < drainUntil && (!near || fell || now < drainFullAt)) return false;
            EndDrain(now);
            if (near) misses = 0;
            else if (!contested && ++misses == DrainMisses)
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
            endedAt = now;
            drainAt = now + (fell ? DrainSoon : DrainEvery);
            gap = fell ? DrainSoon : Math.Min(2 * Math.Max(gap, AlarmFirst), DrainEvery);
            fell = false;
        }

        /// <summary>RAT-1.</summary>
        private void OnTrain(long now, int n, int passed)
        {
            goneBy += passed;
            if (n == 0) return;
            if (train)
            {
                gained += n;
                pause = Math.Max(pause, now - trainNewsAt);
                trainNewsAt = now;
                bool isWhole = gained >= LongTrain || (gained >= ShortTrain && now - trainSince >= Math.Max(minRtt / 2, TrainTime));
                if (!isWhole) return;
                OnWholeTrain(now, 1000 * RoundTrip.Clip(now - trainSince));
            }
            train = true;
            trainSince = trainNewsAt = now;
            gained = goneBy = pause = 0;
        }

        /// <summary>RAT-2 to RAT-5.</summary>
        /// <param name="now">The time.</param>
        /// <param name="took">How long the train was, in nanoseconds.</param>
        private void OnWholeTrain(long now, long took)
        {
            arrival = Math.Max(took - 1000 * RoundTrip.Clip(pause), 0) / gained;
            long x = took / gained;
            if (goneBy > gained) x = Math.Max(took / goneBy, x * (1024 - Math.Min(Math.Max(calm, 256), 512)) / 1024);
            x = Math.Max(x, Fastest);
            bool dry = ranDryAt >= trainSince - roundTrip.Srtt;
            if (Known != 0 && x >= Known && dry) return;
            if (rateOfEpoch == 0 || now - epochAt >= Math.Max(roundTrip.Srtt, RateEpoch))
            {
                rateBefore = rateOfEpoch;
                rateOfEpoch = x;
                epochAt = now;
            }
            rateOfEpoch = Math.Min(rateOfEpoch, x);
        }

        /// <summary>The interval after a slice, in nanoseconds (PRO-1, PRO-2, PRO-4, and the end of PAC-7).</summary>
        private long Interval(bool fresh)
        {
            if (fresh && mode == RecoveryMode.Burst) return Math.Max(BurstInterval, limitInterval);
            if (mode == RecoveryMode.Fixed) return Math.Max(limitInterval, Fastest);
            return Math.Max(IntervalOfPath(), Math.Max(Fastest, limitInterval));
        }

        /// <summary>PAC-1 to PAC-3, PAC-6 and PAC-7.</summary>
        private long IntervalOfPath()
        {
            long ns = Math.Min(PerSlice * 7 / 8, Slowest);
            long r = 8000 * latest / limit;
            if (contested)
            {
                ns = Math.Min(ns, r * 3 / 4);
            }
            else if (limit < TwoSlices)
            {
                ns = Math.Max(ns, r);
                full = blocked = true;
            }
            else if (!opening)
            {
                ns = Math.Max(ns, r / 2);
            }
            return Math.Min(Math.Max(ns, Math.Max(cap, look)), Slowest);
        }
    }
}
