using System;
using System.Diagnostics;
using System.IO;
using System.Net;
using Chunkwire.Samples;

namespace Chunkwire.Live
{
    /// <summary>
    /// One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.
    /// The environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4
    /// address and a port), and CHUNKWIRE_PROTOCOL_ID (decimal).
    /// </summary>
    internal static class Program
    {
        /// <summary>The longest wait, for what no deadline says.</summary>
        private const long LongestWait = Limits.Second;

        /// <summary>The receiver goes on answering until so much time has passed without a slice.</summary>
        private const long Quiet = 3 * Limits.Second;

        /// <summary>Microseconds of a clock that only runs forward (TIM-2).</summary>
        private static long Now
        {
            get
            {
                long ticks = Stopwatch.GetTimestamp(), frequency = Stopwatch.Frequency;
                return ticks / frequency * Limits.Second + ticks % frequency * Limits.Second / frequency;
            }
        }

        private static int Main()
        {
            string mode = Environment.GetEnvironmentVariable("CHUNKWIRE_MODE");
            string[] address = (Environment.GetEnvironmentVariable("CHUNKWIRE_ADDRESS") ?? "").Split(':');
            string id = Environment.GetEnvironmentVariable("CHUNKWIRE_PROTOCOL_ID");
            if ((mode != "send" && mode != "recv") || address.Length != 2 || !IPAddress.TryParse(address[0], out IPAddress host)
                || !ushort.TryParse(address[1], out ushort port) || !uint.TryParse(id, out uint protocolId))
            {
                return Fail("CHUNKWIRE_MODE, CHUNKWIRE_ADDRESS and CHUNKWIRE_PROTOCOL_ID must be set");
            }
            var end = new IPEndPoint(host, port);
            return mode == "send" ? Send(protocolId, end) : Receive(protocolId, end);
        }

        /// <summary>Sends standard input as chunk 0.</summary>
        private static int Send(uint protocolId, IPEndPoint peer)
        {
            var input = new MemoryStream();
            Console.OpenStandardInput().CopyTo(input);
            byte[] chunk = input.ToArray();
            var sender = new Sender(new BaseScheduler(Profile.AllAtOnce));
            if (!sender.TrySubmit(Now, chunk, 0, chunk.Length)) return Fail("a chunk has 1 to 262144 bytes");
            using (var link = new UdpLink(protocolId, new IPEndPoint(IPAddress.Any, 0), peer))
            {
                while (sender.State == SenderState.Sending)
                {
                    long now = Now;
                    while (sender.TryPoll(now, out Slice slice)) link.Send(slice);
                    Wait(link, sender.Deadline);
                    while (link.TryReceive(out Packet packet)) // before the poll (SND-4)
                    {
                        if (packet.Type == PacketType.Ack) sender.Take(Now, packet.Ack);
                    }
                }
            }
            return sender.State == SenderState.Idle ? 0 : Fail("no answer, gave up");
        }

        /// <summary>Writes chunk 0 to standard output, and answers until no slice has come for a while.</summary>
        private static int Receive(uint protocolId, IPEndPoint local)
        {
            var receiver = new Receiver();
            bool done = false;
            long quietSince = Now;
            using (var link = new UdpLink(protocolId, local, null))
            using (Stream output = Console.OpenStandardOutput())
            {
                while (!done || Now - quietSince < Quiet)
                {
                    Wait(link, Math.Min(receiver.Deadline, done ? quietSince + Quiet : Limits.Never));
                    while (link.TryReceive(out Packet packet))
                    {
                        if (packet.Type == PacketType.Slice) receiver.Take(quietSince = Now, packet.Slice);
                    }
                    while (receiver.TryPoll(Now, out Ack ack)) link.Send(ack);
                    if (receiver.State == ReceiverState.Failed) return Fail("no further slices, gave up");
                    if (done || !receiver.TryRead(Now, out ArraySegment<byte> chunk)) continue;
                    output.Write(chunk.Array, chunk.Offset, chunk.Count);
                    done = true;
                }
            }
            return 0;
        }

        private static void Wait(UdpLink link, long deadline)
        {
            long left = Math.Min(deadline - Now, LongestWait);
            if (left > 0) link.Wait((int)left);
        }

        private static int Fail(string why)
        {
            Console.Error.WriteLine("live: " + why);
            return 1;
        }
    }
}
