using System;
using System.Collections.Generic;
using System.Text;

namespace Chunkwire.Port
{
    /// <summary>The operations for repair slices, other than traces (REPAIR.md, appendix C).</summary>
    internal static class Repair
    {
        private const int MostArrivals = 1024;

        /// <summary>RPO-1.</summary>
        public static void Row(Fields request, JsonWriter answer)
        {
            int numSlices = request.Unchecked("num_slices");
            int id = request.Unchecked("slice_id");
            Valid(IsNumSlices(numSlices) && Limits.IsWithin(id, numSlices, RepairCode.MaxIds - 1));
            answer.Name("exponents").Begin('[');
            for (int i = 0; i < numSlices; i++) answer.Raw(RepairCode.Exponent(id - numSlices, i).ToString());
            answer.End(']');
        }

        /// <summary>RPO-2.</summary>
        public static void Slice(Fields request, JsonWriter answer)
        {
            int chunkId = request.Unchecked("chunk_id");
            int size = request.Unchecked("size");
            int id = request.Unchecked("slice_id");
            Valid(IsChunkId(chunkId) && Limits.IsWithin(size, 1, Limits.MaxChunk) && IsId(id));
            Summarize(answer, "slice", new ArraySegment<byte>(new Chunk(chunkId, size).Data(id)));
        }

        /// <summary>RPO-3.</summary>
        public static void Rebuild(Fields request, JsonWriter answer)
        {
            int chunkId = request.Unchecked("chunk_id");
            int numSlices = request.Unchecked("num_slices");
            int lastBytes = request.Unchecked("last_bytes");
            List<object> ids = request.List("slice_ids");
            foreach (object id in ids) Fields.As<Integer>(id);
            Valid(IsChunkId(chunkId) && IsNumSlices(numSlices) && Limits.IsWithin(lastBytes, 1, Limits.SliceSize));
            Valid(ids.Count <= MostArrivals && ids.TrueForAll(id => IsId(((Integer)id).Value)));
            var chunk = new Chunk(chunkId, Limits.SliceSize * (numSlices - 1) + lastBytes);
            var decoder = new RepairDecoder();
            decoder.Start(numSlices, lastBytes);
            var added = new StringBuilder();
            foreach (object id in ids) added.Append(decoder.Add(chunk.Slice((int)((Integer)id).Value)) ? '1' : '0');
            answer.String("added", added.ToString()).Number("rank", decoder.Rank);
            if (!decoder.IsComplete)
            {
                answer.Name("chunk").Raw("null");
                return;
            }
            decoder.Rebuild();
            Summarize(answer, "chunk", decoder.Chunk);
        }

        /// <summary>RPO-4.</summary>
        public static void Encode(Fields request, JsonWriter answer)
        {
            bool isDatagram = TryReadProtocolId(request, out uint protocolId);
            RepairPacket packet = ReadPacket(request.Object("packet"));
            var bytes = new byte[Limits.MaxDatagram];
            bool ok;
            int count;
            if (packet.Type == PacketType.Slice)
            {
                ok = isDatagram ? RepairCodec.TryEncode(protocolId, packet.Slice, bytes, 0, out count) : RepairCodec.TryEncodeBody(packet.Slice, bytes, 0, out count);
            }
            else
            {
                ok = isDatagram ? RepairCodec.TryEncode(protocolId, packet.Ack, bytes, 0, out count) : RepairCodec.TryEncodeBody(packet.Ack, bytes, 0, out count);
            }
            Valid(ok);
            answer.String("hex", Fields.FormatHex(bytes, 0, count));
        }

        /// <summary>RPO-4.</summary>
        public static void Decode(Fields request, JsonWriter answer)
        {
            bool isDatagram = TryReadProtocolId(request, out uint protocolId);
            PacketType type = isDatagram ? PacketType.Slice : Program.ReadType(request);
            byte[] bytes = request.Hex("hex");
            bool ok = isDatagram
                ? RepairCodec.TryDecode(protocolId, bytes, 0, bytes.Length, out RepairPacket packet, out DecodeError error)
                : RepairCodec.TryDecodeBody(type, bytes, 0, bytes.Length, out packet, out error);
            if (!ok) throw new Refusal(Program.CodeOf(error.Code));
            answer.Name("packet");
            if (packet.Type == PacketType.Ack)
            {
                Write(answer, packet.Ack);
                return;
            }
            Begin(answer, packet.Slice);
            answer.String("data", Fields.FormatHex(packet.Slice.Data, packet.Slice.Offset, packet.Slice.Count)).End('}');
        }

        /// <summary>The fields of a slice, for more to follow.</summary>
        public static void Begin(JsonWriter answer, in RepairSlice slice)
        {
            answer.Begin('{').String("type", "slice").Number("chunk_id", slice.ChunkId).Number("slice_id", slice.SliceId);
            answer.Number("num_slices", slice.NumSlices).Number("last_bytes", slice.LastBytes);
        }

        public static void Write(JsonWriter answer, in RepairAck ack)
        {
            answer.Begin('{').String("type", "ack").Number("chunk_id", ack.ChunkId).Number("num_slices", ack.NumSlices);
            answer.Number("have", ack.Have).Number("top", ack.Top).End('}');
        }

        public static void Summarize(JsonWriter answer, string name, ArraySegment<byte> data)
        {
            answer.Name(name).Begin('{');
            Trace.Summarize(answer, data.Array, data.Offset, data.Count);
            answer.End('}');
        }

        /// <summary>An ack that need not be valid.</summary>
        public static RepairAck ReadAck(Fields fields)
        {
            return new RepairAck(fields.Unchecked("chunk_id"), fields.Unchecked("num_slices"), fields.Unchecked("have"), fields.Unchecked("top"));
        }

        private static RepairPacket ReadPacket(Fields packet)
        {
            string type = packet.String("type");
            if (type == "ack") return new RepairPacket(ReadAck(packet));
            Valid(type == "slice"); // ENC-6
            int chunkId = packet.Unchecked("chunk_id");
            int sliceId = packet.Unchecked("slice_id");
            int numSlices = packet.Unchecked("num_slices");
            int lastBytes = packet.Unchecked("last_bytes");
            byte[] data = packet.Hex("data");
            return new RepairPacket(new RepairSlice(chunkId, sliceId, numSlices, lastBytes, data, 0, data.Length));
        }

        private static bool TryReadProtocolId(Fields request, out uint protocolId)
        {
            bool has = request.Has("protocol_id");
            protocolId = has ? Program.ProtocolId(request) : 0;
            return has;
        }

        private static bool IsChunkId(long id)
        {
            return Limits.IsWithin(id, 0, Limits.ChunkIds - 1);
        }

        private static bool IsNumSlices(long numSlices)
        {
            return Limits.IsWithin(numSlices, 1, Limits.MaxSlices);
        }

        private static bool IsId(long id)
        {
            return Limits.IsWithin(id, 0, RepairCode.MaxIds - 1);
        }

        private static void Valid(bool ok)
        {
            if (!ok) throw new Refusal(Refusal.InvalidField);
        }

        /// <summary>A chunk of TRC-1, with its repair slices.</summary>
        internal sealed class Chunk
        {
            private readonly int id;
            private readonly byte[] bytes;
            private readonly RepairSum sum = new RepairSum();

            public Chunk(int id, int size)
            {
                this.id = id;
                bytes = Trace.Content(id, 0, size);
            }

            private int NumSlices
            {
                get { return Limits.SlicesIn(bytes.Length); }
            }

            private int LastBytes
            {
                get { return bytes.Length - Limits.SliceSize * (NumSlices - 1); }
            }

            public byte[] Data(int sliceId)
            {
                var data = new byte[RepairCode.SliceBytes(NumSlices, LastBytes, sliceId)];
                if (sliceId >= NumSlices) sum.Make(bytes, 0, bytes.Length, sliceId - NumSlices, SliceSet.First(NumSlices));
                if (sliceId >= NumSlices) Buffer.BlockCopy(sum.Block, 0, data, 0, data.Length);
                else Buffer.BlockCopy(bytes, Limits.SliceSize * sliceId, data, 0, data.Length);
                return data;
            }

            public RepairSlice Slice(int sliceId)
            {
                byte[] data = Data(sliceId);
                return new RepairSlice(id, sliceId, NumSlices, LastBytes, data, 0, data.Length);
            }
        }
    }

    /// <summary>A scheduler that lets so many slices be sent as a trace says, and has no deadline (RPO-6).</summary>
    internal sealed class RepairScript : IRepairScheduler
    {
        public long Due;

        public long Deadline
        {
            get { return Limits.Never; }
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
            return Due > 0 && Due-- > 0;
        }
    }

    /// <summary>RPO-6.</summary>
    internal sealed class RepairSenderTrace
    {
        private const int MaxSubmit = 2 * Limits.MaxChunk;
        private const int MostDue = 16384;

        private readonly JsonWriter answer;
        private readonly RepairSender sender;
        private RepairScript script;

        private RepairSenderTrace(Fields config, JsonWriter answer)
        {
            this.answer = answer;
            IRepairScheduler scheduler = ReadScheduler(config);
            sender = new RepairSender(scheduler, Trace.FirstChunkId(config), Trace.GiveUp(config));
        }

        public static void Answer(Fields request, JsonWriter answer)
        {
            var trace = new RepairSenderTrace(request.Object("config"), answer);
            Trace.Run(request, answer, trace.HandlerOf);
        }

        private Action<Fields, long> HandlerOf(string name)
        {
            switch (name)
            {
                case "submit": return Submit;
                case "ack": return Take;
                case "poll": return Poll;
                default: return null;
            }
        }

        /// <summary>RPO-5.</summary>
        private IRepairScheduler ReadScheduler(Fields config)
        {
            if (config.IsNull("profile")) return script = new RepairScript();
            Fields profile = config.Object("profile");
            long rate = profile.Number("rate");
            RecoveryMode mode = ReadMode(profile);
            Fields.Demand(AdaptiveScheduler.IsRate(mode, rate));
            return new RatelessScheduler(mode, rate);
        }

        /// <summary>At most one of the flags is true.</summary>
        private static RecoveryMode ReadMode(Fields profile)
        {
            bool burst = profile.Flag("burst"), isFixed = profile.Flag("fixed"), redundant = profile.Flag("redundant");
            Fields.Demand(!(burst && isFixed || burst && redundant || isFixed && redundant));
            if (burst) return RecoveryMode.Burst;
            if (isFixed) return RecoveryMode.Fixed;
            return redundant ? RecoveryMode.Redundant : RecoveryMode.Adaptive;
        }

        private void Submit(Fields fields, long at)
        {
            int size = (int)fields.Number("size", 0, MaxSubmit);
            bool ok = sender.TrySubmit(at, Trace.Content(sender.ChunkId, 0, size), 0, size);
            EndStep(NoPackets);
            if (!ok) answer.String("error", ErrorOf(sender.Row));
        }

        private void Take(Fields fields, long at)
        {
            RepairAck ack = Repair.ReadAck(fields);
            Fields.Demand(ack.IsValid);
            sender.Take(at, ack);
            EndStep(NoPackets);
        }

        private void Poll(Fields fields, long at)
        {
            long due = fields.Has("due") ? fields.Number("due", 0, MostDue) : 0;
            Fields.Demand(due == 0 || (script != null && sender.State == SenderState.Sending));
            if (script != null) script.Due = due;
            EndStep(() => PollAll(at));
        }

        /// <summary>Writes the packets and then, with the last row, what the machine is.</summary>
        private void EndStep(Action packets)
        {
            answer.Name("packets").Begin('[');
            packets();
            answer.End(']');
            Trace.State(answer, sender.Row.ToString(), sender.State.ToString(), sender.ChunkId);
            answer.Number("sent", sender.Sent).Number("have", sender.Have).Number("top", sender.Top);
            Trace.Deadline(answer, sender.Deadline);
        }

        private static void NoPackets()
        {
        }

        private void PollAll(long at)
        {
            while (sender.TryPoll(at, out RepairSlice slice))
            {
                Repair.Begin(answer, slice);
                Trace.Summarize(answer, slice.Data, slice.Offset, slice.Count);
                answer.End('}');
            }
        }

        private static string ErrorOf(RepairSenderRow row)
        {
            switch (row)
            {
                case RepairSenderRow.T2: return "chunk_size";
                case RepairSenderRow.T3: return "busy";
                default: return "gave_up";
            }
        }
    }

    /// <summary>RPO-7.</summary>
    internal sealed class RepairReceiverTrace
    {
        private readonly JsonWriter answer;
        private readonly RepairReceiver receiver;

        private RepairReceiverTrace(Fields config, JsonWriter answer)
        {
            this.answer = answer;
            receiver = new RepairReceiver(Trace.FirstChunkId(config), Trace.GiveUp(config));
        }

        public static void Answer(Fields request, JsonWriter answer)
        {
            var trace = new RepairReceiverTrace(request.Object("config"), answer);
            Trace.Run(request, answer, trace.HandlerOf);
        }

        private Action<Fields, long> HandlerOf(string name)
        {
            switch (name)
            {
                case "slice": return Take;
                case "read": return Read;
                case "poll": return Poll;
                default: return null;
            }
        }

        private void Take(Fields fields, long at)
        {
            int chunkId = (int)fields.Number("chunk_id", 0, 65535);
            int numSlices = (int)fields.Number("num_slices", 1, Limits.MaxSlices);
            int sliceId = (int)fields.Number("slice_id", 0, RepairCode.MaxIds - 1);
            int lastBytes = (int)fields.Number("last_bytes", 1, Limits.SliceSize);
            RepairSlice slice = new Repair.Chunk(chunkId, Limits.SliceSize * (numSlices - 1) + lastBytes).Slice(sliceId);
            if (fields.Has("fill"))
            {
                byte fill = (byte)fields.Number("fill", 0, 255);
                for (int i = 0; i < slice.Count; i++) slice.Data[i] = fill;
            }
            receiver.Take(at, slice);
            EndStep(NoPackets);
        }

        private void Read(Fields fields, long at)
        {
            bool ok = receiver.TryRead(at, out ArraySegment<byte> chunk);
            EndStep(NoPackets);
            if (ok) Repair.Summarize(answer, "chunk", chunk);
            else answer.String("error", "nothing_to_read");
        }

        private void Poll(Fields fields, long at)
        {
            EndStep(() => PollAll(at));
        }

        /// <summary>Writes the packets and then, with the last row, what the machine is.</summary>
        private void EndStep(Action packets)
        {
            answer.Name("packets").Begin('[');
            packets();
            answer.End(']');
            Trace.State(answer, receiver.Row.ToString(), receiver.State.ToString(), receiver.ChunkId);
            answer.Number("have", receiver.Have).Number("top", receiver.Top).Number("inconsistent", receiver.Inconsistent);
            Trace.Deadline(answer, receiver.Deadline);
        }

        private static void NoPackets()
        {
        }

        private void PollAll(long at)
        {
            while (receiver.TryPoll(at, out RepairAck ack)) Repair.Write(answer, ack);
        }
    }
}
