using System;

namespace Chunkwire.Tests
{
    /// <summary>Chunk after chunk in frames of 16 ms, through a path that loses, doubles and reorders.</summary>
    internal static class FrameTests
    {
        private const long Frame = 16667;
        private const int Slots = 1024;

        /// <summary>SAFE-1 in 5,000 frames, for each scheduler.</summary>
        public static void EveryChunkArrivesAsItWasSent()
        {
            foreach (IScheduler scheduler in Schedulers())
            {
                var game = new Game(scheduler, 42, Limits.MaxChunk);
                for (int i = 0; i < 5000; i++) game.Update();
                Check.That(game.Delivered > 5, "only " + game.Delivered + " chunks in 5,000 frames");
            }
        }

        /// <summary>Nothing is allocated in 100,000 frames, after a second in which everything was used once.</summary>
        public static void AFrameAllocatesNothing()
        {
            foreach (IScheduler scheduler in new IScheduler[] { new BaseScheduler(Profile.AllAtOnce), new AdaptiveScheduler() })
            {
                var game = new Game(scheduler, 1, 4 * Limits.SliceSize);
                for (int i = 0; i < 1000; i++) game.Update();
                long before = GC.GetAllocatedBytesForCurrentThread();
                for (int i = 0; i < 100000; i++) game.Update();
                long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
                Check.Equal(0L, allocated, "bytes allocated in 100,000 frames with " + game.Delivered + " chunks");
                Check.That(game.Delivered > 1000, "only " + game.Delivered + " chunks");
            }
        }

        /// <summary>The measurement itself can fail: it sees one small object.</summary>
        public static void TheMeasurementSeesAnObject()
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            object kept = null;
            for (int i = 0; i < 100000; i++)
            {
                if (i == 50000) kept = new object();
            }
            Check.That(GC.GetAllocatedBytesForCurrentThread() - before > 0 && kept != null, "one object is not seen");
        }

        private static IScheduler[] Schedulers()
        {
            return new IScheduler[]
            {
                new BaseScheduler(Profile.AllAtOnce),
                new BaseScheduler(Profile.Fixed(2000000)),
                new BaseScheduler(Profile.Article(500000)),
                new AdaptiveScheduler(),
                new AdaptiveScheduler(RecoveryMode.Redundant),
                new AdaptiveScheduler(RecoveryMode.Burst),
                new AdaptiveScheduler(RecoveryMode.Fixed, 10000000),
            };
        }

        /// <summary>Both ends, and a path between them that itself allocates nothing.</summary>
        private sealed class Game
        {
            private const uint ProtocolId = 7;

            private readonly Sender sender;
            private readonly Receiver receiver = new Receiver();
            private readonly Random random;
            private readonly int maxSize;
            private readonly byte[] chunk = new byte[Limits.MaxChunk];
            private readonly byte[][] slots = new byte[Slots][];
            private readonly int[] sizes = new int[Slots];
            private readonly long[] arrivals = new long[Slots];
            private int size;
            private long now;

            public Game(IScheduler scheduler, int seed, int maxSize)
            {
                this.maxSize = maxSize;
                sender = new Sender(scheduler);
                random = new Random(seed);
                for (int i = 0; i < Slots; i++) slots[i] = new byte[Limits.MaxDatagram];
            }

            public int Delivered { get; private set; }

            public void Update()
            {
                now += Frame;
                if (sender.State == SenderState.Idle && receiver.State == ReceiverState.Waiting) Submit();
                Arrive();
                while (sender.TryPoll(now, out Slice slice)) Send(slice);
                while (receiver.TryPoll(now, out Ack ack)) Send(ack);
                if (receiver.TryRead(now, out ArraySegment<byte> got)) Compare(got);
                if (sender.State == SenderState.Failed || receiver.State == ReceiverState.Failed) throw new Failure("gave up");
            }

            private void Submit()
            {
                size = random.Next(1, maxSize + 1);
                byte fill = (byte)random.Next(256);
                for (int i = 0; i < size; i++) chunk[i] = (byte)(fill + i + i / 1024);
                Check.That(sender.TrySubmit(now, chunk, 0, size), "the chunk was refused");
            }

            private void Compare(ArraySegment<byte> got)
            {
                bool same = got.Count == size;
                for (int i = 0; same && i < size; i++) same = got.Array[got.Offset + i] == chunk[i];
                if (!same) throw new Failure("another chunk arrived than was sent");
                Delivered++;
            }

            private void Arrive()
            {
                for (int i = 0; i < Slots; i++)
                {
                    if (sizes[i] == 0 || arrivals[i] > now) continue;
                    if (!Codec.TryDecode(ProtocolId, slots[i], 0, sizes[i], out Packet packet, out DecodeError error))
                    {
                        throw new Failure("a datagram was refused");
                    }
                    if (packet.Type == PacketType.Slice) receiver.Take(now, packet.Slice);
                    else sender.Take(now, packet.Ack);
                    sizes[i] = 0;
                }
            }

            private void Send(in Slice slice)
            {
                for (int copies = Copies(); copies > 0; copies--)
                {
                    int slot = FreeSlot();
                    Codec.TryEncode(ProtocolId, slice, slots[slot], 0, out sizes[slot]);
                }
            }

            private void Send(in Ack ack)
            {
                for (int copies = Copies(); copies > 0; copies--)
                {
                    int slot = FreeSlot();
                    Codec.TryEncode(ProtocolId, ack, slots[slot], 0, out sizes[slot]);
                }
            }

            /// <summary>One in ten is lost, one in twenty comes twice.</summary>
            private int Copies()
            {
                int chance = random.Next(20);
                return chance < 2 ? 0 : chance == 2 ? 2 : 1;
            }

            private int FreeSlot()
            {
                int slot = Array.IndexOf(sizes, 0);
                arrivals[slot] = now + 20 * Limits.Millisecond + random.Next(30000);
                return slot;
            }
        }
    }
}
