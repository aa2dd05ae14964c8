using System;

namespace Chunkwire.Tests
{
    /// <summary>Repair slices (REPAIR.md): the code, the packets and both machines together.</summary>
    internal static class RepairTests
    {
        private const uint ProtocolId = 0xc0ffee;

        /// <summary>RPV-SAFE-5: whichever slices arrive, the chunk is the same.</summary>
        public static void AnySlicesWillDo()
        {
            foreach (int size in new[] { 1, 1024, 1025, 5000, 20 * 1024 + 3, Limits.MaxChunk })
            {
                for (int lost = 0; lost < 3; lost++)
                {
                    string what = size + " bytes, " + lost + " of 3 lost";
                    byte[] chunk = Ends.Chunk(size);
                    var path = new Path(new RatelessScheduler(RecoveryMode.Burst));
                    ArraySegment<byte> got = path.Transfer(chunk, lost, what);
                    Check.Equal(Convert.ToBase64String(chunk), Convert.ToBase64String(got.Array, got.Offset, got.Count), what);
                    Check.Equal(0L, path.Receiver.Inconsistent, what);
                }
            }
        }

        /// <summary>Neither end allocates anything after it was made, whatever is lost.</summary>
        public static void AChunkAllocatesNothing()
        {
            byte[] chunk = Ends.Chunk(4 * Limits.SliceSize - 1);
            var path = new Path(new RatelessScheduler());
            for (int i = 0; i < 3; i++) path.Transfer(chunk, i % 3, "the first chunks");
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 300; i++) path.Transfer(chunk, i % 3, "a chunk");
            Check.Equal(0L, GC.GetAllocatedBytesForCurrentThread() - before, "bytes allocated for 300 chunks");
        }

        /// <summary>RPR-11: the third slice is compared with the chunk that the forged one made.</summary>
        public static void AForgedSliceIsNoticed()
        {
            RepairReceiver receiver = AfterTwoOfTwo(true);
            Check.Equal(ReceiverState.Ready, receiver.State, "the chunk");
            Check.Equal(RepairReceiverRow.U15, receiver.Take(0, SliceAt(3)), "a late slice");
            Check.Equal(1L, receiver.Inconsistent, "with a forged slice");
            receiver = AfterTwoOfTwo(false);
            receiver.Take(0, SliceAt(3));
            Check.Equal(0L, receiver.Inconsistent, "without");
        }

        /// <summary>RPR-10: what follows from the slices that are here adds nothing.</summary>
        public static void ADependentSliceIsAckedAndNotStored()
        {
            RepairSender sender = Submitted(3000);
            var slices = new RepairSlice[7];
            for (int id = 0; id < slices.Length; id++) slices[id] = Kept(sender);
            var receiver = new RepairReceiver();
            receiver.Take(0, slices[1]);
            receiver.Take(0, slices[4]);
            Check.Equal(RepairReceiverRow.U8, receiver.Take(0, slices[6]), "section 3.4: repair slice 3 after 1"); // and source slice 1
            Check.Equal(2, receiver.Have, "slices that are held");
            Check.Equal(7L, receiver.Top, "top");
        }

        public static void WhatCannotBeEncodedIsRefused()
        {
            var buffer = new byte[Limits.MaxDatagram];
            var data = new byte[Limits.SliceSize];
            Check.That(!new RepairSlice(0, RepairCode.MaxIds, 2, 1, data, 0, data.Length).IsValid, "RPE-1");
            Check.That(!new RepairSlice(0, 0, 2, 0, data, 0, data.Length).IsValid, "RPE-2");
            Check.That(!new RepairSlice(0, 1, 2, 1, data, 0, data.Length).IsValid, "RPE-3");
            Check.That(!RepairCodec.TryEncode(ProtocolId, new RepairAck(0, 2, 3, 0), buffer, 0, out int count), "RPE-4");
            Check.That(!RepairCodec.TryEncodeBody(new RepairAck(0, 2, 2, RepairCode.MaxIds), buffer, 0, out count), "RPE-5");
            Check.That(!RepairCodec.TryDecodeBody(PacketType.Ack, new byte[] { 0, 0, 0, 3, 0, 0 }, 0, 6, out RepairPacket packet, out DecodeError error), "RPD-4");
            Check.Equal(DecodeCode.HaveOutOfRange, error.Code, "its code");
            Check.Equal(24, error.Place, "its place");
        }

        private static RepairReceiver AfterTwoOfTwo(bool forged)
        {
            var receiver = new RepairReceiver();
            receiver.Take(0, SliceAt(0));
            RepairSlice second = SliceAt(2);
            if (forged) second.Data[second.Offset] ^= 1;
            receiver.Take(0, second);
            return receiver;
        }

        /// <summary>A slice of a chunk of two.</summary>
        private static RepairSlice SliceAt(int id)
        {
            RepairSender sender = Submitted(2048);
            while (sender.Sent < id) Kept(sender);
            return Kept(sender);
        }

        private static RepairSender Submitted(int size)
        {
            var sender = new RepairSender(new Always());
            sender.TrySubmit(0, Ends.Chunk(size), 0, size);
            return sender;
        }

        /// <summary>The next slice, with data of its own.</summary>
        private static RepairSlice Kept(RepairSender sender)
        {
            Check.That(sender.TryPoll(0, out RepairSlice slice), "no slice");
            var data = new byte[slice.Count];
            Buffer.BlockCopy(slice.Data, slice.Offset, data, 0, data.Length);
            return new RepairSlice(slice.ChunkId, slice.SliceId, slice.NumSlices, slice.LastBytes, data, 0, data.Length);
        }

        /// <summary>Both ends, and a path between them that loses the first slices of three.</summary>
        private sealed class Path
        {
            public readonly RepairReceiver Receiver = new RepairReceiver();

            private readonly RepairSender sender;
            private readonly byte[] datagram = new byte[Limits.MaxDatagram];
            private long now;

            public Path(IRepairScheduler scheduler)
            {
                sender = new RepairSender(scheduler);
            }

            /// <summary>A chunk goes from one end to the other; it lies in the memory of the receiver.</summary>
            public ArraySegment<byte> Transfer(byte[] chunk, int lost, string what)
            {
                Check.That(sender.TrySubmit(now, chunk, 0, chunk.Length), what);
                for (long until = now + Limits.DefaultGiveUp; sender.State == SenderState.Sending; now += Limits.Millisecond)
                {
                    Check.That(now < until, what);
                    if (sender.TryPoll(now, out RepairSlice slice) && sender.Sent % 3 >= lost) Deliver(slice, what);
                    while (Receiver.TryPoll(now, out RepairAck ack)) sender.Take(now, ack);
                }
                Check.That(Receiver.TryRead(now, out ArraySegment<byte> got) && sender.Row == RepairSenderRow.T10, what);
                return got;
            }

            private void Deliver(in RepairSlice slice, string what)
            {
                Check.That(RepairCodec.TryEncode(ProtocolId, slice, datagram, 0, out int count), what);
                Check.That(RepairCodec.TryDecode(ProtocolId, datagram, 0, count, out RepairPacket packet, out DecodeError error), what);
                Receiver.Take(now, packet.Slice);
            }
        }

        /// <summary>Lets each slice be sent that is asked for.</summary>
        private sealed class Always : IRepairScheduler
        {
            public long Deadline
            {
                get { return 0; }
            }

            public void Start(long now, int numSlices)
            {
            }

            public void News(long now, int have, long top)
            {
            }

            public void Hold(long now)
            {
            }

            public bool TryNext(long now)
            {
                return true;
            }
        }
    }
}
