using System;

namespace Chunkwire
{
    /// <summary>
    /// The base algorithm (appendix G): what was never sent or was found lost goes out at the pace of a profile.
    /// It does not control congestion and is for private or provisioned paths (section 1.3).
    /// </summary>
    public sealed class BaseScheduler : IScheduler
    {
        private const int Probes = 2;
        private const int MaxBackoff = 3;
        private const long CatchUp = 20 * Limits.Millisecond;
        private const int FullCost = Limits.SliceSize + 13 + Limits.Header; // BUD-2
        private const int LastCost = 14 + Limits.Header; // without its data

        private readonly Profile profile;
        private readonly Transmissions transmissions = new Transmissions();
        private RoundTrip roundTrip;
        private Budget budget;
        private long spacedUntil;

        // What belongs to the chunk in flight (SCH-5).
        private int numSlices;
        private int lastCost;
        private SliceSet unacked;
        private SliceSet due;
        private int cursor;
        private int probe;
        private long sentAt;
        private long newsAt;
        private bool held;
        private long heldAt;
        private int backoff;

        /// <summary>A scheduler for one sender.</summary>
        public BaseScheduler(Profile profile)
        {
            if (profile.Cap == 0) throw new ArgumentException("a profile comes from one of the methods of Profile", "profile");
            this.profile = profile;
            roundTrip = new RoundTrip(profile.ResendDelay);
            budget = new Budget(profile);
        }

        /// <summary>SCH-9.</summary>
        public long Deadline
        {
            get
            {
                if (!due.IsEmpty) return Math.Max(spacedUntil, budget.CoveredAt(Cost(Next())));
                return unacked.IsEmpty ? Limits.Never : Timer;
            }
        }

        /// <summary>When the resend timer runs out (TMR-1, TMR-6).</summary>
        private long Timer
        {
            get
            {
                if (held) return Math.Max(sentAt, heldAt) + roundTrip.DelayOfProbes(sentAt - heldAt);
                return Math.Max(sentAt + roundTrip.Delay(backoff), newsAt + roundTrip.Margin);
            }
        }

        /// <summary>SCH-5.</summary>
        public void Start(long now, int size)
        {
            roundTrip.Start();
            transmissions.Start();
            numSlices = Limits.SlicesIn(size);
            lastCost = LastCost + size - Limits.SliceSize * (numSlices - 1);
            unacked = SliceSet.First(numSlices);
            due = unacked;
            cursor = 0;
            probe = numSlices;
            sentAt = now;
            newsAt = now;
            held = false;
            backoff = 0;
            spacedUntil = Math.Max(spacedUntil, now);
            budget.Start(now);
        }

        /// <summary>SCH-6.</summary>
        public bool TryNext(long now, out int slice)
        {
            slice = -1;
            if (due.IsEmpty && !unacked.IsEmpty && now >= Timer) Probe(now);
            if (due.IsEmpty || now < spacedUntil) return false; // SPC-1
            int k = Next();
            budget.Pay(now);
            if (!budget.TryTake(Cost(k))) return false;
            Send(now, k);
            slice = k;
            return true;
        }

        /// <summary>SCH-8.</summary>
        public void News(long now, in SliceSet slices)
        {
            newsAt = now;
            backoff = 0;
            probe = numSlices;
            Sample(now, slices);
            int cost = 0;
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1))
            {
                bool asLast = !transmissions.IsResent(k) || roundTrip.IsPlausible(now - transmissions.LastAt(k));
                transmissions.Arrive(k, asLast); // GAP-1
                cost += Cost(k);
            }
            unacked = unacked.Except(slices);
            due = due.Except(slices);
            if (held) Release(now);
            FindLost(now);
            budget.Pay(now);
            budget.Arrived(cost);
        }

        /// <summary>SCH-10: what is sent to a peer that cannot take it is wasted.</summary>
        public void Hold(long now)
        {
            if (!held) heldAt = now;
            held = true;
            due = default(SliceSet);
        }

        /// <summary>The first slice of <c>due</c> from the cursor on, else the first of all (SCH-6, step 3).</summary>
        private int Next()
        {
            int k = due.NextFrom(cursor);
            return k >= 0 ? k : due.NextFrom(0);
        }

        /// <summary>BUD-2.</summary>
        private int Cost(int k)
        {
            return k == numSlices - 1 ? lastCost : FullCost;
        }

        /// <summary>SCH-7.</summary>
        private void Send(long now, int k)
        {
            transmissions.Send(now, k);
            sentAt = now;
            due = due.Without(k);
            cursor = k + 1;
            spacedUntil = Math.Max(spacedUntil, now - CatchUp) + profile.Spacing; // SPC-2
        }

        /// <summary>RTT-1: at most one sample.</summary>
        private void Sample(long now, in SliceSet slices)
        {
            SliceSet once = default(SliceSet), plausible = default(SliceSet);
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1))
            {
                if (!transmissions.IsResent(k)) once = once.With(k);
                if (roundTrip.IsPlausible(now - transmissions.LastAt(k))) plausible = plausible.With(k);
            }
            if (!once.IsEmpty) roundTrip.Measure(now - transmissions.LastAt(transmissions.Latest(once))); // RTT-2
            else if (!plausible.IsEmpty) roundTrip.Smooth(now - transmissions.LastAt(transmissions.Latest(plausible))); // RTT-3
            else if (!roundTrip.IsMeasured) roundTrip.Limit(now - transmissions.FirstAt(transmissions.Latest(slices))); // RTT-4
        }

        /// <summary>The hold has ended: what was never sent is due again (SCH-8, step 5).</summary>
        private void Release(long now)
        {
            held = false;
            Enter(now, unacked.Except(transmissions.Sent));
        }

        /// <summary>GAP-2.</summary>
        private void FindLost(long now)
        {
            SliceSet outstanding = unacked.Except(due), lost = default(SliceSet);
            for (int k = outstanding.NextFrom(0); k >= 0; k = outstanding.NextFrom(k + 1))
            {
                if (transmissions.IsOvertaken(k)) lost = lost.With(k);
            }
            Enter(now, lost);
        }

        /// <summary>TMR-4.</summary>
        private void Probe(long now)
        {
            transmissions.ArriveAtBest();
            FindLost(now);
            backoff = Math.Min(backoff + 1, MaxBackoff);
            int probes = held ? 1 : Math.Min(Probes << (backoff - 1), unacked.Count);
            for (int i = 0; i < probes; i++)
            {
                int k = unacked.LastBelow(probe);
                probe = k >= 0 ? k : unacked.LastBelow(Limits.MaxSlices);
                Enter(now, default(SliceSet).With(probe));
            }
        }

        /// <summary>SPC-3: time without a slice to send is not made up for.</summary>
        private void Enter(long now, in SliceSet slices)
        {
            if (due.IsEmpty && !slices.IsEmpty) spacedUntil = Math.Max(spacedUntil, now);
            due |= slices;
        }
    }
}
