using System;
using System.IO;
using System.Net;
using Chunkwire.Samples;

namespace Chunkwire.Live
{
    /// <summary>
    /// One chunk over UDP, as `chunkwire live --help` asks for: a driver around the machines.
    /// The environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4
    /// address and a port), CHUNKWIRE_PROTOCOL_ID (decimal), and CHUNKWIRE_VARIANT (repair: with repair slices).
    /// </summary>
    internal static class Program
    {
        /// <summary>The longest wait, for what no deadline says.</summary>
        private const long LongestWait = Limits.Second;

        /// <summary>The receiver goes on answering until so much time has passed without a slice.</summary>
        private const long Quiet = 3 * Limits.Second;

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
            bool repair = Environment.GetEnvironmentVariable("CHUNKWIRE_VARIANT") == "repair";
            if (repair) protocolId = RepairCodec.ProtocolId(protocolId);
            return mode == "send" ? Send(repair, protocolId, end) : Receive(repair, protocolId, end);
        }

        /// <summary>Sends standard input as chunk 0.</summary>
        private static int Send(bool repair, uint protocolId, IPEndPoint peer)
        {
            var input = new MemoryStream();
            Console.OpenStandardInput().CopyTo(input);
            byte[] chunk = input.ToArray();
            ISendingEnd sender = repair ? (ISendingEnd)new RepairSendingEnd() : new NamedSendingEnd();
            if (!sender.TrySubmit(chunk)) return Fail("a chunk has 1 to 262144 bytes");
            using (var link = new UdpLink(protocolId, new IPEndPoint(IPAddress.Any, 0), peer))
            {
                while (sender.State == SenderState.Sending)
                {
                    sender.Poll(link);
                    Wait(link, sender.Deadline);
                    sender.Take(link); // before the poll (SND-4)
                }
            }
            return sender.State == SenderState.Idle ? 0 : Fail("no answer, gave up");
        }

        /// <summary>Writes chunk 0 to standard output, and answers until no slice has come for a while.</summary>
        private static int Receive(bool repair, uint protocolId, IPEndPoint local)
        {
            IReceivingEnd receiver = repair ? (IReceivingEnd)new RepairReceivingEnd() : new NamedReceivingEnd();
            bool done = false;
            long quietSince = Clock.Now;
            using (var link = new UdpLink(protocolId, local, null))
            using (Stream output = Console.OpenStandardOutput())
            {
                while (!done || Clock.Now - quietSince < Quiet)
                {
                    Wait(link, Math.Min(receiver.Deadline, done ? quietSince + Quiet : Limits.Never));
                    if (receiver.Take(link)) quietSince = Clock.Now;
                    receiver.Poll(link);
                    if (receiver.State == ReceiverState.Failed) return Fail("no further slices, gave up");
                    if (done || !receiver.TryRead(out ArraySegment<byte> chunk)) continue;
                    output.Write(chunk.Array, chunk.Offset, chunk.Count);
                    done = true;
                }
            }
            return 0;
        }

        private static void Wait(UdpLink link, long deadline)
        {
            long left = Math.Min(deadline - Clock.Now, LongestWait);
            if (left > 0) link.Wait((int)left);
        }

        private static int Fail(string why)
        {
            Console.Error.WriteLine("live: " + why);
            return 1;
        }
    }
}
