using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;

namespace Chunkwire.Port
{
    /// <summary>
    /// The port contract of appendix B: a JSON object a line on standard input, one on standard output for each.
    /// </summary>
    internal static class Program
    {
        /// <summary>Enough for the deepest text that the reader takes.</summary>
        private const int StackSize = 64 << 20;

        private static readonly Dictionary<string, Action<Fields, JsonWriter>> Operations = new Dictionary<string, Action<Fields, JsonWriter>>
        {
            { "encode_body", EncodeBody },
            { "decode_body", DecodeBody },
            { "encode_packet", EncodePacket },
            { "decode_packet", DecodePacket },
            { "sender", SenderTrace.Answer },
            { "receiver", ReceiverTrace.Answer },
            { "repair_row", Repair.Row },
            { "repair_slice", Repair.Slice },
            { "repair_rebuild", Repair.Rebuild },
            { "repair_encode", Repair.Encode },
            { "repair_decode", Repair.Decode },
            { "repair_sender", RepairSenderTrace.Answer },
            { "repair_receiver", RepairReceiverTrace.Answer },
        };

        private static void Main()
        {
            var thread = new Thread(AnswerAll, StackSize);
            thread.Start();
            thread.Join();
        }

        private static void AnswerAll()
        {
            var utf8 = new UTF8Encoding(false, true);
            using (Stream output = Console.OpenStandardOutput())
            {
                foreach (byte[] line in Lines(Console.OpenStandardInput()))
                {
                    byte[] answer = utf8.GetBytes(Answer(line, utf8) + "\n");
                    output.Write(answer, 0, answer.Length);
                    output.Flush();
                }
            }
        }

        /// <summary>The lines of a stream, without their line feeds.</summary>
        private static IEnumerable<byte[]> Lines(Stream input)
        {
            var buffer = new byte[65536];
            var line = new MemoryStream();
            for (int count = input.Read(buffer, 0, buffer.Length); count > 0; count = input.Read(buffer, 0, buffer.Length))
            {
                int start = 0;
                for (int end = Feed(buffer, start, count); end >= 0; end = Feed(buffer, start, count))
                {
                    line.Write(buffer, start, end - start);
                    yield return line.ToArray();
                    line.SetLength(0);
                    start = end + 1;
                }
                line.Write(buffer, start, count - start);
            }
            if (line.Length > 0) yield return line.ToArray();
        }

        private static int Feed(byte[] buffer, int start, int end)
        {
            return Array.IndexOf(buffer, (byte)'\n', start, end - start);
        }

        /// <summary>The response to one line, whatever it holds (PRT-3).</summary>
        private static string Answer(byte[] line, Encoding utf8)
        {
            string id = "null";
            try
            {
                Fields request = Fields.Of(JsonReader.Read(utf8.GetString(line)));
                id = request.Id("id");
                if (!Operations.TryGetValue(request.String("op"), out Action<Fields, JsonWriter> operation))
                {
                    throw new Refusal(Refusal.Unsupported);
                }
                JsonWriter answer = new JsonWriter().Begin('{').Name("id").Raw(id).Name("ok").Raw("true");
                operation(request, answer);
                return answer.End('}').ToString();
            }
            catch (Refusal refusal)
            {
                return Refused(id, refusal.Code);
            }
            catch (FormatException)
            {
                return Refused(id, Refusal.BadRequest);
            }
            catch (DecoderFallbackException)
            {
                return Refused(id, Refusal.BadRequest);
            }
        }

        private static string Refused(string id, string code)
        {
            return new JsonWriter().Begin('{').Name("id").Raw(id).Name("ok").Raw("false").String("error", code).End('}').ToString();
        }

        private static void EncodeBody(Fields request, JsonWriter answer)
        {
            Packet packet = ReadPacket(request);
            var body = new byte[Limits.MaxDatagram];
            bool ok = packet.Type == PacketType.Slice
                ? Codec.TryEncodeBody(packet.Slice, body, 0, out int count)
                : Codec.TryEncodeBody(packet.Ack, body, 0, out count);
            AnswerHex(answer, ok, body, count);
        }

        private static void EncodePacket(Fields request, JsonWriter answer)
        {
            uint protocolId = ProtocolId(request);
            Packet packet = ReadPacket(request);
            var datagram = new byte[Limits.MaxDatagram];
            bool ok = packet.Type == PacketType.Slice
                ? Codec.TryEncode(protocolId, packet.Slice, datagram, 0, out int count)
                : Codec.TryEncode(protocolId, packet.Ack, datagram, 0, out count);
            AnswerHex(answer, ok, datagram, count);
        }

        private static void AnswerHex(JsonWriter answer, bool ok, byte[] bytes, int count)
        {
            if (!ok) throw new Refusal(Refusal.InvalidField);
            answer.String("hex", Fields.FormatHex(bytes, 0, count));
        }

        private static void DecodeBody(Fields request, JsonWriter answer)
        {
            PacketType packetType = ReadType(request);
            byte[] body = request.Hex("hex");
            bool ok = Codec.TryDecodeBody(packetType, body, 0, body.Length, out Packet packet, out DecodeError error);
            AnswerPacket(answer, ok, packet, error);
        }

        private static void DecodePacket(Fields request, JsonWriter answer)
        {
            uint protocolId = ProtocolId(request);
            byte[] datagram = request.Hex("hex");
            bool ok = Codec.TryDecode(protocolId, datagram, 0, datagram.Length, out Packet packet, out DecodeError error);
            AnswerPacket(answer, ok, packet, error);
        }

        private static void AnswerPacket(JsonWriter answer, bool ok, in Packet packet, in DecodeError error)
        {
            if (!ok) throw new Refusal(CodeOf(error.Code));
            answer.Name("packet").Begin('{').String("type", packet.Type == PacketType.Slice ? "slice" : "ack");
            if (packet.Type == PacketType.Slice)
            {
                Slice slice = packet.Slice;
                answer.Number("chunk_id", slice.ChunkId).Number("slice_id", slice.SliceId).Number("num_slices", slice.NumSlices);
                answer.String("data", Fields.FormatHex(slice.Data, slice.Offset, slice.Count));
            }
            else
            {
                answer.Number("chunk_id", packet.Ack.ChunkId);
                answer.String("acked", Fields.FormatBits(packet.Ack.Acked, packet.Ack.NumSlices));
            }
            answer.End('}');
        }

        /// <summary>Appendix E.</summary>
        public static string CodeOf(DecodeCode code)
        {
            switch (code)
            {
                case DecodeCode.Truncated: return "truncated";
                case DecodeCode.CrcMismatch: return "crc_mismatch";
                case DecodeCode.SliceIdOutOfRange: return "slice_id_out_of_range";
                case DecodeCode.NonzeroPadding: return "nonzero_padding";
                case DecodeCode.BadEndCheck: return "bad_end_check";
                case DecodeCode.HaveOutOfRange: return "have_out_of_range";
                default: return "trailing_data";
            }
        }

        public static uint ProtocolId(Fields request)
        {
            return (uint)request.Number("protocol_id", 0, uint.MaxValue);
        }

        public static PacketType ReadType(Fields request)
        {
            string type = request.String("type");
            Fields.Demand(type == "slice" || type == "ack");
            return type == "slice" ? PacketType.Slice : PacketType.Ack;
        }

        /// <summary>The packet of a request; its values need not be valid, for the encoder to refuse them (PRT-2).</summary>
        private static Packet ReadPacket(Fields request)
        {
            Fields packet = request.Object("packet");
            string type = packet.String("type");
            if (type == "ack") return new Packet(packet.Ack(Refusal.InvalidField));
            if (type != "slice") throw new Refusal(Refusal.InvalidField); // ENC-6
            int chunkId = packet.Unchecked("chunk_id");
            int sliceId = packet.Unchecked("slice_id");
            int numSlices = packet.Unchecked("num_slices");
            byte[] data = packet.Hex("data");
            return new Packet(new Slice(chunkId, sliceId, numSlices, data, 0, data.Length));
        }
    }
}
