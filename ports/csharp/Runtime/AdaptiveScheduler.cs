using System;

namespace Chunkwire
{
    /// <summary>
    /// The recommended scheduler (RECOVERY.md): it adapts to the path and controls congestion, for one lane.
    /// </summary>
    public sealed class AdaptiveScheduler : IScheduler
    {
        private const int GapSize = 2;
        private const int Probes = 2;
        private const int MaxCopies = 4;
        private const int CopyBudget = 64;
        private const int SpreadBudget = 512;
        private const int MostNumber = 65535;
        private const int MostCounted = 255;

        private readonly Controller controller;
        private readonly bool redundant;
        private long patience;
        private long latest;

        // What belongs to the chunk in flight (REC-2).
        private readonly int[] first = new int[Limits.MaxSlices];
        private readonly int[] main = new int[Limits.MaxSlices];
        private readonly int[] last = new int[Limits.MaxSlices];
        private readonly long[] firstAt = new long[Limits.MaxSlices];
        private readonly long[] mainAt = new long[Limits.MaxSlices];
        private readonly long[] lastAt = new long[Limits.MaxSlices];
        private readonly int[] resends = new int[Limits.MaxSlices];
        private readonly int[] copies = new int[Limits.MaxSlices];
        private int numSlices;
        private SliceSet unacked;
        private SliceSet lost;
        private SliceSet byTimer;
        private int fresh;
        private int count;
        private int newest;
        private int refused; // up to this number the peer may have refused transmissions (SUS-5)
        private long sentAt;
        private long newsAt;
        private long gapAt;
        private int oldest;
        private bool held;
        private long heldAt;
        private bool idle = true;

        /// <summary>A scheduler for one sender, which knows nothing of the path.</summary>
        /// <param name="mode">The profile.</param>
        /// <param name="rate">PRO-1: the limit in bits a second with headers, 8,528 to 8 * 10^9; 0 for none, which Fixed needs.</param>
        public AdaptiveScheduler(RecoveryMode mode = RecoveryMode.Adaptive, long rate = 0)
        {
            if (!IsRate(mode, rate)) throw new ArgumentOutOfRangeException("rate", "0, or 8,528 to 8 * 10^9 bits a second");
            controller = new Controller(mode, rate);
            redundant = mode == RecoveryMode.Redundant;
        }

        /// <summary>REC-7.</summary>
        public long Deadline
        {
            get
            {
                if (unacked.IsEmpty) return Limits.Never;
                if (TryChoose(out int chosen, out bool isCopy)) return controller.PaceAt;
                long at = Math.Min(Timer, gapAt);
                return (lost & byTimer).IsEmpty ? at : Math.Min(at, controller.SilentAt);
            }
        }

        /// <summary>Whether other packets on the path must not wait behind slices (ROOM-3).</summary>
        public bool Yields
        {
            get { return controller.Yields; }
            set { controller.Yields = value; }
        }

        /// <summary>Slices in flight: sent, not acked and not found lost (REC-2).</summary>
        private SliceSet Flying
        {
            get { return (unacked & SliceSet.First(fresh)).Except(lost); }
        }

        /// <summary>PTO-1, PTO-2, PTO-5.</summary>
        private long Timer
        {
            get
            {
                RoundTrip path = controller.RoundTrip;
                if (held) return Math.Max(sentAt, heldAt) + path.DelayOfProbes(sentAt - heldAt);
                if (oldest < 0) return Limits.Never;
                return Math.Max(lastAt[oldest] + path.BaseDelay, Math.Max(newsAt + path.Margin, controller.ProbeAt));
            }
        }

        /// <summary>Whether PRO-1 and PRO-4 allow a limit.</summary>
        public static bool IsRate(RecoveryMode mode, long rate)
        {
            return rate == 0 ? mode != RecoveryMode.Fixed : Limits.IsWithin(rate, 8 * Profile.BudgetMin, 8L * Profile.BudgetMax);
        }

        /// <summary>ECN-1: routers marked so many datagrams instead of dropping them.</summary>
        public void Marks(int count)
        {
            controller.OnMarks(count);
        }

        /// <summary>REC-2.</summary>
        public void Start(long now, int size)
        {
            latest = now;
            numSlices = Limits.SlicesIn(size);
            unacked = SliceSet.First(numSlices);
            lost = byTimer = default(SliceSet);
            Array.Clear(resends, 0, numSlices);
            Array.Clear(copies, 0, numSlices);
            fresh = count = newest = refused = 0;
            sentAt = newsAt = now;
            gapAt = Limits.Never;
            oldest = -1;
            held = false;
            idle = true;
            patience -= patience / 16;
            controller.OnBegin(now);
        }

        /// <summary>REC-3.</summary>
        public void News(long now, in SliceSet slices)
        {
            latest = now;
            Sample(now, slices);
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1)) newest = Math.Max(newest, ArrivedAs(now, k));
            unacked = unacked.Except(slices);
            lost = lost.Except(slices);
            if (held) refused = count;
            newsAt = now;
            held = false;
            int missing = FindLost(now);
            controller.OnNews(now, slices.Count, missing);
        }

        /// <summary>REC-4.</summary>
        public void Hold(long now)
        {
            latest = now;
            if (!held) heldAt = now;
            held = true;
            lost = default(SliceSet);
            NoteFlight();
        }

        /// <summary>REC-5.</summary>
        public bool TryNext(long now, out int slice)
        {
            latest = now;
            if (now >= gapAt) controller.OnNews(now, 0, FindLost(now));
            if (!TryNextLostOrFresh(out slice) && now >= Timer) Expire(now);
            bool wanted = TryChoose(out slice, out bool isCopy);
            bool goes = controller.Goes(now, wanted, slice == fresh, idle);
            idle = !wanted;
            if (goes) Send(now, slice, isCopy);
            return goes;
        }

        /// <summary>The variable <c>next</c> of REC-9.</summary>
        private bool TryNextLostOrFresh(out int slice)
        {
            slice = lost.NextFrom(0);
            if (slice >= 0)
            {
                if (controller.HasRoom) return true;
                slice = (lost & byTimer).NextFrom(0);
                return slice >= 0 && (held || latest >= controller.SilentAt);
            }
            if (fresh == numSlices || held) return false;
            slice = fresh;
            return controller.HasRoom;
        }

        /// <summary>The variable <c>chosen</c> of REC-9.</summary>
        private bool TryChoose(out int slice, out bool isCopy)
        {
            isCopy = false;
            if (TryNextLostOrFresh(out slice)) return true;
            if (!lost.IsEmpty || fresh < numSlices || held || !controller.HasRoom) return false;
            slice = ToCopy();
            return isCopy = slice >= 0;
        }

        /// <summary>REC-6.</summary>
        private void Send(long now, int k, bool isCopy)
        {
            count++;
            last[k] = count;
            lastAt[k] = sentAt = now;
            if (isCopy) copies[k] = Math.Min(copies[k] + 1, MostCounted);
            else SendMain(now, k);
            if (oldest < 0 || oldest == k) FindOldest();
            NoteFlight();
        }

        private void SendMain(long now, int k)
        {
            main[k] = count;
            mainAt[k] = now;
            if (k == fresh)
            {
                first[k] = Math.Min(count, MostNumber);
                firstAt[k] = now;
                fresh++;
                return;
            }
            resends[k] = Math.Min(resends[k] + 1, MostCounted);
            copies[k] = 0;
            lost = lost.Without(k);
        }

        /// <summary>EST-2 to EST-4.</summary>
        private void Sample(long now, in SliceSet slices)
        {
            SliceSet once = default(SliceSet), again = default(SliceSet);
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1))
            {
                long r = now - mainAt[k];
                if (resends[k] == 0 && copies[k] == 0) once = once.With(k); // EST-1
                if (r >= controller.Least && (copies[k] == 0 || r < controller.RoundTrip.Srtt)) again = again.With(k);
            }
            if (!once.IsEmpty) controller.OnCleanSample(now, now - lastAt[LatestOf(once)]);
            else if (!controller.RoundTrip.IsMeasured) controller.FindBound(now - firstAt[LatestOf(slices)]);
            else if (!again.IsEmpty) controller.OnResentSample(now - mainAt[LatestOf(again)]);
        }

        /// <summary>The slice of a set that was sent last (EST-1).</summary>
        private int LatestOf(in SliceSet slices)
        {
            int best = -1;
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1))
            {
                if (best < 0 || last[k] > last[best]) best = k;
            }
            return best;
        }

        /// <summary>The slice of a set that was not sent for the longest time, or -1.</summary>
        private int OldestOf(in SliceSet slices)
        {
            int best = -1;
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1))
            {
                if (best < 0 || last[k] < last[best]) best = k;
            }
            return best;
        }

        private void NoteFlight()
        {
            if (unacked.IsEmpty) controller.Leave();
            else controller.SetFlight(Flying.Count);
        }

        private void FindOldest()
        {
            oldest = OldestOf(Flying);
        }

        /// <summary>PTO-3 to PTO-5.</summary>
        private void Expire(long now)
        {
            if (held)
            {
                int k = (unacked & SliceSet.First(fresh)).LastBelow(Limits.MaxSlices);
                if (k >= 0) Lose(k);
            }
            else
            {
                int givenUp = 0;
                for (int i = 0; i < Probes; i++)
                {
                    int k = ToProbe();
                    if (k < 0) break;
                    Lose(k);
                    givenUp++;
                }
                controller.OnTimer(now, givenUp);
            }
            NoteFlight();
        }

        private void Lose(int k)
        {
            lost = lost.With(k);
            byTimer = byTimer.With(k);
        }

        /// <summary>PTO-4: of the slices with the fewest resends the one that was sent last, or -1.</summary>
        private int ToProbe()
        {
            SliceSet flying = Flying;
            int best = -1;
            for (int k = flying.NextFrom(0); k >= 0; k = flying.NextFrom(k + 1))
            {
                bool better = best < 0 || resends[k] < resends[best] || (resends[k] == resends[best] && last[k] > last[best]);
                if (better) best = k;
            }
            return best;
        }

        /// <summary>LOS-1: the number of the transmission that arrived.</summary>
        private int ArrivedAs(long now, int k)
        {
            bool measured = controller.RoundTrip.IsMeasured;
            if (resends[k] == 0 || (measured && !lost.Contains(k) && now - mainAt[k] >= controller.Least)) return main[k];
            if (measured && byTimer.Contains(k))
            {
                controller.OnLate(1);
            }
            else if (measured && resends[k] == 1) // LOS-4
            {
                long late = RoundTrip.Clip(now - firstAt[k]) * 9 / 8;
                patience = Math.Max(patience, Math.Min(late, controller.RoundTrip.Srtt * 3 / 2));
            }
            return first[k];
        }

        /// <summary>LOS-2, LOS-3, SUS-5; returns how many slices it finds that the path has lost.</summary>
        private int FindLost(long now)
        {
            SliceSet flying = Flying;
            int missing = 0;
            gapAt = Limits.Never;
            for (int k = flying.NextFrom(0); k >= 0; k = flying.NextFrom(k + 1))
            {
                if (last[k] + GapSize > newest) continue;
                if (now < lastAt[k] + patience)
                {
                    gapAt = Math.Min(gapAt, lastAt[k] + patience);
                    continue;
                }
                lost = lost.With(k);
                byTimer = byTimer.Without(k);
                if (last[k] > refused) missing++;
            }
            FindOldest();
            NoteFlight();
            return missing;
        }

        /// <summary>CPY-1 to CPY-3: the slice that is copied, or -1.</summary>
        private int ToCopy()
        {
            RoundTrip path = controller.RoundTrip;
            if (!path.IsKnown || latest - newsAt > 4 * path.BaseDelay) return -1;
            int budget = redundant ? SpreadBudget : CopyBudget; // PRO-3
            long share = Math.Min(budget, Math.Min(controller.PathSlices, Limits.MaxSlices) / 2) / unacked.Count;
            SliceSet flying = Flying, candidates = default(SliceSet);
            for (int k = flying.NextFrom(0); k >= 0; k = flying.NextFrom(k + 1))
            {
                long most = Math.Min(Math.Min(MaxCopies, (redundant ? 2 : 1) + resends[k]), share);
                if (1 + copies[k] < most && latest - mainAt[k] < path.Srtt / 2) candidates = candidates.With(k);
            }
            return OldestOf(candidates);
        }
    }
}
