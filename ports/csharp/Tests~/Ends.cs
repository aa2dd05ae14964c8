using System;
using System.Collections.Generic;

namespace Chunkwire.Tests
{
    /// <summary>A sender and a receiver with a time that passes when a test says so.</summary>
    internal sealed class Ends
    {
        public const uint ProtocolId = 0xc0ffee;

        public readonly Sender Sender;
        public readonly Receiver Receiver;
        public long Now;

        private readonly byte[] datagram = new byte[Limits.MaxDatagram];

        public Ends(int firstChunkId = 0, long giveUp = Limits.DefaultGiveUp)
        {
            Sender = new Sender(new BaseScheduler(Profile.AllAtOnce), firstChunkId, giveUp);
            Receiver = new Receiver(firstChunkId, giveUp);
        }

        /// <summary>A chunk of random bytes.</summary>
        public static byte[] Chunk(int size, int seed = 1)
        {
            var chunk = new byte[size];
            new Random(seed).NextBytes(chunk);
            return chunk;
        }

        public void Submit(byte[] chunk)
        {
            Check.That(Sender.TrySubmit(Now, chunk, 0, chunk.Length), "the chunk was refused: " + Sender.Row);
        }

        /// <summary>The datagrams that the sender has now.</summary>
        public List<byte[]> Slices()
        {
            var datagrams = new List<byte[]>();
            while (Sender.TryPoll(Now, out Slice slice))
            {
                Check.That(Codec.TryEncode(ProtocolId, slice, datagram, 0, out int count), "a slice of the sender cannot be encoded");
                datagrams.Add(Copy(count));
            }
            return datagrams;
        }

        /// <summary>The datagrams of the sender until it has sent so many, with the time that this takes.</summary>
        public List<byte[]> Slices(int count)
        {
            List<byte[]> datagrams = Slices();
            while (datagrams.Count < count)
            {
                Now = Sender.Deadline;
                datagrams.AddRange(Slices());
            }
            return datagrams;
        }

        /// <summary>The datagrams that the receiver has now.</summary>
        public List<byte[]> Acks()
        {
            var datagrams = new List<byte[]>();
            while (Receiver.TryPoll(Now, out Ack ack))
            {
                Check.That(Codec.TryEncode(ProtocolId, ack, datagram, 0, out int count), "an ack of the receiver cannot be encoded");
                datagrams.Add(Copy(count));
            }
            return datagrams;
        }

        /// <summary>The datagrams of the receiver at the time at which it wants to send some.</summary>
        public List<byte[]> DueAcks()
        {
            Now = Math.Max(Now, Receiver.Deadline);
            return Acks();
        }

        /// <summary>Gives datagrams to the machine that they are for, and returns what the last one did.</summary>
        public string Deliver(params byte[][] datagrams)
        {
            string row = "";
            foreach (byte[] bytes in datagrams)
            {
                Packet packet = Decode(bytes);
                row = packet.Type == PacketType.Slice
                    ? Receiver.Take(Now, packet.Slice).ToString()
                    : Sender.Take(Now, packet.Ack).ToString();
            }
            return row;
        }

        public static Packet Decode(byte[] bytes)
        {
            bool ok = Codec.TryDecode(ProtocolId, bytes, 0, bytes.Length, out Packet packet, out DecodeError error);
            Check.That(ok, "a datagram was refused: " + error.Code);
            return packet;
        }

        public byte[] Read()
        {
            Check.That(Receiver.TryRead(Now, out ArraySegment<byte> chunk), "there is nothing to read");
            var bytes = new byte[chunk.Count];
            Buffer.BlockCopy(chunk.Array, chunk.Offset, bytes, 0, bytes.Length);
            return bytes;
        }

        private byte[] Copy(int count)
        {
            var bytes = new byte[count];
            Buffer.BlockCopy(datagram, 0, bytes, 0, count);
            return bytes;
        }
    }
}
