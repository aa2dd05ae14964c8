using System;

namespace Chunkwire.Tests
{
    internal static class CodecTests
    {
        private const uint ProtocolId = 0x11223344;
        private const string SliceHex = "4414a8920200040408000102030405e2ac0899";
        private const string AckHex = "a83af421692410aa02e2ac0899";

        private static readonly byte[] Data = { 1, 2, 3, 4, 5 };

        /// <summary>Section 6.4.</summary>
        public static void TheExamplesOfTheSpecification()
        {
            var buffer = new byte[Limits.MaxDatagram];
            var slice = new Slice(1, 2, 3, Data, 0, 5);
            Check.That(Codec.TryEncodeBody(slice, buffer, 0, out int count), "body of a slice");
            Check.Equal("0100020204000102030405", Hex(buffer, 0, count), "body of a slice");
            Check.That(Codec.TryEncode(ProtocolId, slice, buffer, 0, out count), "slice");
            Check.Equal(SliceHex, Hex(buffer, 0, count), "slice");

            var acked = default(SliceSet).With(0).With(2).With(4).With(6).With(8);
            var ack = new Ack(0x1234, 9, acked);
            Check.That(Codec.TryEncodeBody(ack, buffer, 0, out count), "body of an ack");
            Check.Equal("3412085501", Hex(buffer, 0, count), "body of an ack");
            Check.That(Codec.TryEncode(ProtocolId, ack, buffer, 0, out count), "ack");
            Check.Equal(AckHex, Hex(buffer, 0, count), "ack");
        }

        /// <summary>Arrays of 256 slices and of the last slice's 1,024 bytes fit their fields.</summary>
        public static void TheLargestChunk()
        {
            var data = new byte[Limits.SliceSize];
            var slice = new Slice(65535, 255, 256, data, 0, data.Length);
            var buffer = new byte[Limits.MaxDatagram];
            Check.That(Codec.TryEncode(ProtocolId, slice, buffer, 0, out int count), "it was refused");
            Check.Equal(Limits.MaxDatagram, count, "bytes");
            Check.That(Codec.TryDecode(ProtocolId, buffer, 0, count, out Packet packet, out DecodeError error), "it was refused");
            Check.Equal(256, packet.Slice.NumSlices, "slices");
            Check.Equal(1024, packet.Slice.Count, "bytes of data");

            var ack = new Ack(65535, 256, SliceSet.First(256));
            Check.That(Codec.TryEncode(ProtocolId, ack, buffer, 0, out count), "it was refused");
            Check.That(Codec.TryDecode(ProtocolId, buffer, 0, count, out packet, out error), "it was refused");
            Check.Equal(256, packet.Ack.Acked.Count, "acked");
        }

        /// <summary>A datagram in the middle of an array: nothing around it is read or written (LAW-3).</summary>
        public static void NothingAroundADatagramMatters()
        {
            foreach (byte around in new byte[] { 0, 0xff })
            {
                var buffer = new byte[2000];
                for (int i = 0; i < buffer.Length; i++) buffer[i] = around;
                Check.That(Codec.TryEncode(ProtocolId, new Slice(1, 2, 3, Data, 0, 5), buffer, 77, out int count), "slice");
                Check.Equal(SliceHex, Hex(buffer, 77, count), "slice");
                Check.Equal(around, buffer[76], "the byte before");
                Check.Equal(around, buffer[77 + count], "the byte behind");
                for (int n = 0; n < count; n++)
                {
                    Check.That(!Codec.TryDecode(ProtocolId, buffer, 77, n, out Packet cut, out DecodeError why), n + " bytes were taken");
                    Check.Equal(n < 4 ? DecodeCode.Truncated : DecodeCode.CrcMismatch, why.Code, n + " bytes");
                }
                Check.That(Codec.TryDecode(ProtocolId, buffer, 77, count, out Packet packet, out DecodeError error), "it was refused");
                Check.Equal(77 + 10, packet.Slice.Offset, "where the data lies");
            }
        }

        /// <summary>DEC-15: which field it is. The places are those of the table in section 6.3.</summary>
        public static void ARefusalNamesItsPlace()
        {
            Refuses(PacketType.Slice, "", DecodeCode.Truncated, 0);
            Refuses(PacketType.Slice, "0100", DecodeCode.Truncated, 16);
            Refuses(PacketType.Slice, "010002", DecodeCode.Truncated, 24);
            Refuses(PacketType.Slice, "01000301", DecodeCode.SliceIdOutOfRange, 16);
            Refuses(PacketType.Slice, "0100020204", DecodeCode.Truncated, 32);
            Refuses(PacketType.Slice, "010002020404", DecodeCode.NonzeroPadding, 42);
            Refuses(PacketType.Slice, "01000202040001020304", DecodeCode.Truncated, 48);
            Refuses(PacketType.Slice, "010002020400010203040506", DecodeCode.TrailingData, 88);
            Refuses(PacketType.Ack, "34120855", DecodeCode.Truncated, 24);
            Refuses(PacketType.Ack, "3412085503", DecodeCode.NonzeroPadding, 33);
        }

        /// <summary>ENC-1 to ENC-5.</summary>
        public static void WhatCannotBeRepresentedIsRefused()
        {
            var full = new byte[Limits.SliceSize + 1];
            Slice[] slices =
            {
                new Slice(-1, 0, 1, full, 0, 1), new Slice(65536, 0, 1, full, 0, 1), // ENC-1
                new Slice(0, 0, 0, full, 0, 1), new Slice(0, 0, 257, full, 0, 1024), // ENC-2
                new Slice(0, 1, 1, full, 0, 1), new Slice(0, -1, 1, full, 0, 1), // ENC-3
                new Slice(0, 0, 2, full, 0, 1023), new Slice(0, 0, 1, full, 0, 0), new Slice(0, 0, 1, full, 0, 1025), // ENC-4
                new Slice(0, 0, 2, full, 2, 1024), new Slice(0, 0, 1, null, 0, 1), new Slice(0, 0, 1, full, -1, 1), // no such data
            };
            Ack[] acks =
            {
                new Ack(-1, 1, default(SliceSet)), new Ack(65536, 1, default(SliceSet)), // ENC-1
                new Ack(0, 0, default(SliceSet)), new Ack(0, 257, default(SliceSet)), // ENC-2
                new Ack(0, 5, default(SliceSet).With(5)), // ENC-5
            };
            var buffer = new byte[2 * Limits.MaxDatagram];
            for (int i = 0; i < slices.Length; i++)
            {
                Check.That(!Codec.TryEncode(ProtocolId, slices[i], buffer, 0, out int count), "slice " + i);
                Check.That(!Codec.TryEncodeBody(slices[i], buffer, 0, out count), "body of slice " + i);
            }
            for (int i = 0; i < acks.Length; i++)
            {
                Check.That(!Codec.TryEncode(ProtocolId, acks[i], buffer, 0, out int count), "ack " + i);
                Check.That(!Codec.TryEncodeBody(acks[i], buffer, 0, out count), "body of ack " + i);
            }
        }

        /// <summary>A buffer that is too small is the caller's mistake, and not the packet's.</summary>
        public static void ABufferHasRoomForTheLargestDatagram()
        {
            var buffer = new byte[Limits.MaxDatagram];
            Check.Throws<ArgumentOutOfRangeException>(
                () => Codec.TryEncode(ProtocolId, new Slice(1, 2, 3, Data, 0, 5), buffer, 1, out int count), "offset 1");
        }

        /// <summary>LAW-2: whatever bytes come, they are refused or are the one encoding of what they mean.</summary>
        public static void EveryBodyHasOneEncoding()
        {
            var random = new Random(7);
            var buffer = new byte[Limits.MaxDatagram];
            int taken = 0;
            for (int i = 0; i < 100000; i++)
            {
                var body = new byte[random.Next(14)];
                random.NextBytes(body);
                if (body.Length > 3 && random.Next(2) == 0) body[3] = body[2] = (byte)random.Next(30);
                if (body.Length > 5) body[5] &= 0x03;
                foreach (PacketType type in new[] { PacketType.Slice, PacketType.Ack })
                {
                    if (!Codec.TryDecodeBody(type, body, 0, body.Length, out Packet packet, out DecodeError error)) continue;
                    taken++;
                    bool ok = type == PacketType.Slice
                        ? Codec.TryEncodeBody(packet.Slice, buffer, 0, out int count)
                        : Codec.TryEncodeBody(packet.Ack, buffer, 0, out count);
                    Check.That(ok, "it cannot be encoded");
                    Check.Equal(Hex(body, 0, body.Length), Hex(buffer, 0, count), "the encoding of what was decoded, packet " + i);
                }
            }
            Check.That(taken > 100, "only " + taken + " were taken");
        }

        private static void Refuses(PacketType type, string hex, DecodeCode code, int place)
        {
            byte[] body = Bytes(hex);
            Check.That(!Codec.TryDecodeBody(type, body, 0, body.Length, out Packet packet, out DecodeError error), hex + " was taken");
            Check.Equal(code, error.Code, hex);
            Check.Equal(place, error.Place, hex);
        }

        private static byte[] Bytes(string hex)
        {
            var bytes = new byte[hex.Length / 2];
            for (int i = 0; i < bytes.Length; i++) bytes[i] = Convert.ToByte(hex.Substring(2 * i, 2), 16);
            return bytes;
        }

        private static string Hex(byte[] bytes, int offset, int count)
        {
            return BitConverter.ToString(bytes, offset, count).Replace("-", "").ToLowerInvariant();
        }
    }
}
