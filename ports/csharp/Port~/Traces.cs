using System;
using System.Collections.Generic;

namespace Chunkwire.Port
{
    /// <summary>A scheduler that returns what a trace says, and has no deadline (TRC-2).</summary>
    internal sealed class Script : IScheduler
    {
        public readonly Queue<int> Due = new Queue<int>();

        public long Deadline
        {
            get { return Limits.Never; }
        }

        public void Start(long now, int size)
        {
        }

        public void News(long now, in SliceSet slices)
        {
        }

        public void Hold(long now)
        {
        }

        public bool TryNext(long now, out int slice)
        {
            slice = Due.Count > 0 ? Due.Dequeue() : -1;
            return slice >= 0;
        }
    }

    /// <summary>What traces of both machines have in common (appendix B).</summary>
    internal static class Trace
    {
        /// <summary>Gives each event to a handler; what is wrong with one is a bad request, an unknown one is unsupported.</summary>
        public static void Run(Fields request, JsonWriter answer, Func<string, Action<Fields, long>> handlerOf)
        {
            answer.Name("steps").Begin('[');
            int position = 0;
            foreach (object element in request.List("events"))
            {
                Fields fields = Fields.Of(element);
                Action<Fields, long> handler = handlerOf(fields.String("event"));
                if (handler == null) throw new Refusal(Refusal.Unsupported);
                answer.Begin('{').Number("event", position++);
                handler(fields, fields.Number("at", 0, Fields.LastTime));
                answer.End('}');
            }
            answer.End(']');
        }

        public static int FirstChunkId(Fields config)
        {
            return (int)config.Number("first_chunk_id", 0, 65535);
        }

        public static long GiveUp(Fields config)
        {
            return config.Number("give_up_us", 1, Limits.MaxGiveUp);
        }

        /// <summary>Bytes of a chunk (TRC-1).</summary>
        public static byte[] Content(int chunkId, int start, int size)
        {
            var data = new byte[size];
            for (int i = 0; i < size; i++)
            {
                int at = start + i;
                data[i] = (byte)(at + 31 * (at / 1024) + 7 * chunkId);
            }
            return data;
        }

        /// <summary>TRC-1: the length and the crc of data.</summary>
        public static void Summarize(JsonWriter answer, byte[] data, int offset, int count)
        {
            uint crc = Crc32.Finish(Crc32.Add(Crc32.Initial, data, offset, count));
            answer.Number("size", count).Number("crc32", crc);
        }

        public static void State(JsonWriter answer, string row, string state, int chunkId)
        {
            answer.String("row", row).String("state", state.ToUpperInvariant()).Number("chunk_id", chunkId);
        }

        public static void Deadline(JsonWriter answer, long deadline)
        {
            if (deadline == Limits.Never) answer.Name("deadline_us").Raw("null");
            else answer.Number("deadline_us", deadline);
        }
    }

    /// <summary>TRC-2.</summary>
    internal sealed class SenderTrace
    {
        private const int MaxSubmit = 2 * Limits.MaxChunk;
        private const long LongestDelay = 1000000000;

        private readonly JsonWriter answer;
        private readonly Script script;
        private readonly Sender sender;

        private SenderTrace(Fields config, JsonWriter answer)
        {
            this.answer = answer;
            int firstChunkId = Trace.FirstChunkId(config);
            long giveUp = Trace.GiveUp(config);
            if (config.IsNull("profile")) script = new Script();
            IScheduler scheduler = script != null ? (IScheduler)script : new BaseScheduler(ReadProfile(config.Object("profile")));
            sender = new Sender(scheduler, firstChunkId, giveUp);
        }

        public static void Answer(Fields request, JsonWriter answer)
        {
            var trace = new SenderTrace(request.Object("config"), answer);
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

        private static Profile ReadProfile(Fields profile)
        {
            long spacing = profile.Number("spacing_us", 0, LongestDelay);
            long resendDelay = profile.Number("resend_delay_us", 0, LongestDelay);
            Fields.Demand(Profile.TryCreate(
                profile.Number("rate"),
                profile.Number("cap"),
                profile.Number("burst"),
                profile.Flag("acks_pay"),
                spacing,
                resendDelay,
                out Profile result));
            return result;
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
            sender.Take(at, fields.Ack(Refusal.BadRequest));
            EndStep(NoPackets);
        }

        private void Poll(Fields fields, long at)
        {
            if (fields.Has("due")) SetDue(fields.List("due"));
            EndStep(() => PollAll(at));
        }

        /// <summary>Writes the packets and then, with the last row, what the machine is.</summary>
        private void EndStep(Action packets)
        {
            answer.Name("packets").Begin('[');
            packets();
            answer.End(']');
            Trace.State(answer, sender.Row.ToString(), sender.State.ToString(), sender.ChunkId);
            answer.String("acked", Fields.FormatBits(sender.Acked, sender.NumSlices));
            Trace.Deadline(answer, sender.Deadline);
        }

        private static void NoPackets()
        {
        }

        private void PollAll(long at)
        {
            while (sender.TryPoll(at, out Slice slice))
            {
                answer.Begin('{').String("type", "slice").Number("chunk_id", slice.ChunkId).Number("slice_id", slice.SliceId);
                answer.Number("num_slices", slice.NumSlices);
                Trace.Summarize(answer, slice.Data, slice.Offset, slice.Count);
                answer.End('}');
            }
        }

        /// <summary>What the script returns: slices that are in flight and not acked.</summary>
        private void SetDue(List<object> due)
        {
            Fields.Demand(script != null || due.Count == 0);
            foreach (object element in due)
            {
                long id = Fields.As<Integer>(element).Value;
                Fields.Demand(id >= 0 && id < sender.NumSlices && !sender.Acked.Contains((int)id));
                script.Due.Enqueue((int)id);
            }
        }

        private static string ErrorOf(SenderRow row)
        {
            switch (row)
            {
                case SenderRow.S2: return "chunk_size";
                case SenderRow.S3: return "busy";
                default: return "gave_up";
            }
        }
    }

    /// <summary>TRC-3.</summary>
    internal sealed class ReceiverTrace
    {
        private readonly JsonWriter answer;
        private readonly Receiver receiver;

        private ReceiverTrace(Fields config, JsonWriter answer)
        {
            this.answer = answer;
            receiver = new Receiver(Trace.FirstChunkId(config), Trace.GiveUp(config));
        }

        public static void Answer(Fields request, JsonWriter answer)
        {
            var trace = new ReceiverTrace(request.Object("config"), answer);
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
            int sliceId = (int)fields.Number("slice_id", 0, numSlices - 1);
            int size = (int)fields.Number("size", 0, Limits.SliceSize);
            byte[] data = Trace.Content(chunkId, Limits.SliceSize * sliceId, size);
            if (fields.Has("fill"))
            {
                byte fill = (byte)fields.Number("fill", 0, 255);
                for (int i = 0; i < size; i++) data[i] = fill;
            }
            var slice = new Slice(chunkId, sliceId, numSlices, data, 0, size);
            Fields.Demand(slice.IsValid);
            receiver.Take(at, slice);
            EndStep(NoPackets);
        }

        private void Read(Fields fields, long at)
        {
            bool ok = receiver.TryRead(at, out ArraySegment<byte> chunk);
            EndStep(NoPackets);
            if (ok)
            {
                answer.Name("chunk").Begin('{');
                Trace.Summarize(answer, chunk.Array, chunk.Offset, chunk.Count);
                answer.End('}');
            }
            else
            {
                answer.String("error", "nothing_to_read");
            }
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
            answer.String("received", Fields.FormatBits(receiver.Received, receiver.NumSlices));
            Trace.Deadline(answer, receiver.Deadline);
        }

        private static void NoPackets()
        {
        }

        private void PollAll(long at)
        {
            while (receiver.TryPoll(at, out Ack ack))
            {
                answer.Begin('{').String("type", "ack").Number("chunk_id", ack.ChunkId);
                answer.String("acked", Fields.FormatBits(ack.Acked, ack.NumSlices)).End('}');
            }
        }
    }
}
