using System;
using System.Net;
using System.Net.Sockets;

namespace Chunkwire.Samples
{
    /// <summary>
    /// A UDP socket and the peer at its other end. Once the peer is known a datagram costs no allocation.
    /// What the system refuses to send or reports as unreachable is as good as lost.
    /// </summary>
    public sealed class UdpLink : IDisposable
    {
        /// <summary>Whoever sends without end does not hold up a frame.</summary>
        private const int MostRefused = 1000;

        private readonly uint protocolId;
        private readonly Socket socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        private readonly byte[] incoming = new byte[Limits.MaxDatagram + 1]; // what fills it is too long (DEC-16)
        private readonly byte[] outgoing = new byte[Limits.MaxDatagram];
        private EndPoint from; // of the latest datagram, until the peer is known
        private bool connected; // Mono's Socket.Connected is true after any datagram

        /// <summary>A link to a peer.</summary>
        /// <param name="protocolId">The number that both ends share (FRM-5).</param>
        /// <param name="local">Where it listens; any free port for the port 0.</param>
        /// <param name="peer">Where it sends to; null: to whoever first sends a packet.</param>
        public UdpLink(uint protocolId, IPEndPoint local, IPEndPoint peer)
        {
            this.protocolId = protocolId;
            socket.Blocking = false;
            socket.ReceiveBufferSize = 1 << 20; // a frame's worth of slices, with room
            socket.Bind(local);
            if (peer != null) Connect(peer);
        }

        /// <summary>Where it listens.</summary>
        public IPEndPoint Local
        {
            get { return (IPEndPoint)socket.LocalEndPoint; }
        }

        /// <summary>Datagrams that did not decode (CON-4).</summary>
        public long Refused { get; private set; }

        /// <summary>The next packet that has arrived; the data of a slice is good until the next call.</summary>
        /// <returns>False if there is none.</returns>
        public bool TryReceive(out Packet packet)
        {
            packet = default(Packet);
            for (int i = 0; i < MostRefused && TryReceive(out int count); i++)
            {
                if (Accept(Codec.TryDecode(protocolId, incoming, 0, count, out packet, out DecodeError error))) return true;
            }
            return false;
        }

        /// <summary>The same with repair slices; the protocol id is theirs (<see cref="RepairCodec.ProtocolId"/>).</summary>
        /// <returns>False if there is none.</returns>
        public bool TryReceive(out RepairPacket packet)
        {
            packet = default(RepairPacket);
            for (int i = 0; i < MostRefused && TryReceive(out int count); i++)
            {
                if (Accept(RepairCodec.TryDecode(protocolId, incoming, 0, count, out packet, out DecodeError error))) return true;
            }
            return false;
        }

        /// <summary>Sends a slice.</summary>
        public void Send(in Slice slice)
        {
            if (Codec.TryEncode(protocolId, slice, outgoing, 0, out int count)) Send(count);
        }

        /// <summary>Sends an ack.</summary>
        public void Send(in Ack ack)
        {
            if (Codec.TryEncode(protocolId, ack, outgoing, 0, out int count)) Send(count);
        }

        /// <summary>Sends a slice of REPAIR.md.</summary>
        public void Send(in RepairSlice slice)
        {
            if (RepairCodec.TryEncode(protocolId, slice, outgoing, 0, out int count)) Send(count);
        }

        /// <summary>Sends an ack of REPAIR.md.</summary>
        public void Send(in RepairAck ack)
        {
            if (RepairCodec.TryEncode(protocolId, ack, outgoing, 0, out int count)) Send(count);
        }

        /// <summary>Waits until a datagram arrives, or so many microseconds. A program with frames needs none of this.</summary>
        public void Wait(int microseconds)
        {
            socket.Poll(microseconds, SelectMode.SelectRead);
        }

        /// <summary>Closes the socket.</summary>
        public void Dispose()
        {
            socket.Close();
        }

        /// <summary>Whoever first sends a packet is the peer.</summary>
        private bool Accept(bool decoded)
        {
            if (!decoded) Refused++;
            else if (!connected) Connect(from);
            return decoded;
        }

        private void Connect(EndPoint peer)
        {
            socket.Connect(peer);
            connected = true;
        }

        private bool TryReceive(out int count)
        {
            count = 0;
            if (!connected) return TryReceiveFromAnybody(out count);
            if (socket.Available == 0) return false;
            count = socket.Receive(incoming, 0, incoming.Length, SocketFlags.None, out SocketError error);
            if (error != SocketError.Success) count = 0; // an unreachable peer, or a datagram that is too long
            return error != SocketError.WouldBlock;
        }

        private bool TryReceiveFromAnybody(out int count)
        {
            count = 0;
            if (socket.Available == 0) return false;
            from = new IPEndPoint(IPAddress.Any, 0);
            try
            {
                count = socket.ReceiveFrom(incoming, ref from);
            }
            catch (SocketException)
            {
                // Windows reports an unreachable peer, or a datagram that is too long, like this.
            }
            return true;
        }

        private void Send(int count)
        {
            if (connected) socket.Send(outgoing, 0, count, SocketFlags.None, out SocketError ignored);
        }
    }
}
