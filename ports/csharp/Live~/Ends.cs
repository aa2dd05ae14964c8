using System;
using System.Diagnostics;
using Chunkwire.Samples;

namespace Chunkwire.Live
{
    internal static class Clock
    {
        /// <summary>Microseconds of a clock that only runs forward (TIM-2).</summary>
        public static long Now
        {
            get
            {
                long ticks = Stopwatch.GetTimestamp(), frequency = Stopwatch.Frequency;
                return ticks / frequency * Limits.Second + ticks % frequency * Limits.Second / frequency;
            }
        }
    }

    /// <summary>A sender, with named slices or with repair slices.</summary>
    internal interface ISendingEnd
    {
        SenderState State { get; }

        long Deadline { get; }

        bool TrySubmit(byte[] chunk);

        /// <summary>Sends what is due.</summary>
        void Poll(UdpLink link);

        /// <summary>Takes what has arrived.</summary>
        void Take(UdpLink link);
    }

    /// <summary>A receiver, with named slices or with repair slices.</summary>
    internal interface IReceivingEnd
    {
        ReceiverState State { get; }

        long Deadline { get; }

        bool TryRead(out ArraySegment<byte> chunk);

        /// <summary>Sends what is due.</summary>
        void Poll(UdpLink link);

        /// <summary>Takes what has arrived, and returns whether a slice was among it.</summary>
        bool Take(UdpLink link);
    }

    internal sealed class NamedSendingEnd : ISendingEnd
    {
        private readonly Sender sender = new Sender(new AdaptiveScheduler());

        public SenderState State
        {
            get { return sender.State; }
        }

        public long Deadline
        {
            get { return sender.Deadline; }
        }

        public bool TrySubmit(byte[] chunk)
        {
            return sender.TrySubmit(Clock.Now, chunk, 0, chunk.Length);
        }

        public void Poll(UdpLink link)
        {
            for (long now = Clock.Now; sender.TryPoll(now, out Slice slice);) link.Send(slice);
        }

        public void Take(UdpLink link)
        {
            while (link.TryReceive(out Packet packet))
            {
                if (packet.Type == PacketType.Ack) sender.Take(Clock.Now, packet.Ack);
            }
        }
    }

    internal sealed class NamedReceivingEnd : IReceivingEnd
    {
        private readonly Receiver receiver = new Receiver();

        public ReceiverState State
        {
            get { return receiver.State; }
        }

        public long Deadline
        {
            get { return receiver.Deadline; }
        }

        public bool TryRead(out ArraySegment<byte> chunk)
        {
            return receiver.TryRead(Clock.Now, out chunk);
        }

        public void Poll(UdpLink link)
        {
            while (receiver.TryPoll(Clock.Now, out Ack ack)) link.Send(ack);
        }

        public bool Take(UdpLink link)
        {
            bool taken = false;
            while (link.TryReceive(out Packet packet))
            {
                if (packet.Type != PacketType.Slice) continue;
                receiver.Take(Clock.Now, packet.Slice);
                taken = true;
            }
            return taken;
        }
    }

    internal sealed class RepairSendingEnd : ISendingEnd
    {
        private readonly RepairSender sender = new RepairSender(new RatelessScheduler());

        public SenderState State
        {
            get { return sender.State; }
        }

        public long Deadline
        {
            get { return sender.Deadline; }
        }

        public bool TrySubmit(byte[] chunk)
        {
            return sender.TrySubmit(Clock.Now, chunk, 0, chunk.Length);
        }

        public void Poll(UdpLink link)
        {
            for (long now = Clock.Now; sender.TryPoll(now, out RepairSlice slice);) link.Send(slice);
        }

        public void Take(UdpLink link)
        {
            while (link.TryReceive(out RepairPacket packet))
            {
                if (packet.Type == PacketType.Ack) sender.Take(Clock.Now, packet.Ack);
            }
        }
    }

    internal sealed class RepairReceivingEnd : IReceivingEnd
    {
        private readonly RepairReceiver receiver = new RepairReceiver();

        public ReceiverState State
        {
            get { return receiver.State; }
        }

        public long Deadline
        {
            get { return receiver.Deadline; }
        }

        public bool TryRead(out ArraySegment<byte> chunk)
        {
            return receiver.TryRead(Clock.Now, out chunk);
        }

        public void Poll(UdpLink link)
        {
            while (receiver.TryPoll(Clock.Now, out RepairAck ack)) link.Send(ack);
        }

        public bool Take(UdpLink link)
        {
            bool taken = false;
            while (link.TryReceive(out RepairPacket packet))
            {
                if (packet.Type != PacketType.Slice) continue;
                receiver.Take(Clock.Now, packet.Slice);
                taken = true;
            }
            return taken;
        }
    }
}
