using System;
using System.Collections.Generic;
using System.Text;

namespace Chunkwire.Port
{
    /// <summary>A request that is answered with a code (PRT-3).</summary>
    internal sealed class Refusal : Exception
    {
        public const string BadRequest = "bad_request";
        public const string Unsupported = "unsupported";
        public const string InvalidField = "invalid_field";

        public readonly string Code;

        public Refusal(string code)
        {
            Code = code;
        }
    }

    /// <summary>Reads the fields of a JSON object, strictly (PRT-2, PRT-3).</summary>
    internal struct Fields
    {
        private readonly Dictionary<string, object> members;

        private Fields(Dictionary<string, object> members)
        {
            this.members = members;
        }

        /// <summary>The fields of a value that must be an object.</summary>
        public static Fields Of(object value)
        {
            return new Fields(As<Dictionary<string, object>>(value));
        }

        /// <summary>The latest time of a trace (TIM-3).</summary>
        public const long LastTime = (1L << 62) - 1;

        public bool Has(string name)
        {
            return members.ContainsKey(name);
        }

        public bool IsNull(string name)
        {
            return Has(name) && members[name] == null;
        }

        public Fields Object(string name)
        {
            return new Fields(Field<Dictionary<string, object>>(name));
        }

        public List<object> List(string name)
        {
            return Field<List<object>>(name);
        }

        public string String(string name)
        {
            return Field<string>(name);
        }

        public bool Flag(string name)
        {
            return Field<bool>(name);
        }

        public string Id(string name)
        {
            return Field<Integer>(name).Text;
        }

        public long Number(string name)
        {
            return Field<Integer>(name).Value;
        }

        public long Number(string name, long low, long high)
        {
            long value = Number(name);
            Demand(value >= low && value <= high);
            return value;
        }

        /// <summary>A number for an encoder to check; those that no int holds are numbers that no field allows.</summary>
        public int Unchecked(string name)
        {
            return (int)Math.Max(int.MinValue, Math.Min(int.MaxValue, Number(name)));
        }

        public byte[] Hex(string name)
        {
            string digits = String(name);
            Demand(digits.Length % 2 == 0);
            var bytes = new byte[digits.Length / 2];
            for (int i = 0; i < bytes.Length; i++) bytes[i] = (byte)(Digit(digits[2 * i]) << 4 | Digit(digits[2 * i + 1]));
            return bytes;
        }

        /// <summary>An ack (PRT-2); what cannot be represented is refused with a code.</summary>
        public Ack Ack(string code)
        {
            int chunkId = Unchecked("chunk_id");
            string bits = String("acked");
            if (bits.Length > Limits.MaxSlices || bits.Trim('0', '1').Length > 0) throw new Refusal(code);
            SliceSet acked = default(SliceSet);
            for (int k = 0; k < bits.Length; k++)
            {
                if (bits[k] == '1') acked = acked.With(k);
            }
            var ack = new Ack(chunkId, bits.Length, acked);
            if (!ack.IsValid) throw new Refusal(code);
            return ack;
        }

        /// <summary>One character a slice, slice 0 first.</summary>
        public static string FormatBits(in SliceSet slices, int count)
        {
            var bits = new StringBuilder();
            for (int k = 0; k < count; k++) bits.Append(slices.Contains(k) ? '1' : '0');
            return bits.ToString();
        }

        public static string FormatHex(byte[] bytes, int offset, int count)
        {
            var digits = new StringBuilder();
            for (int i = offset; i < offset + count; i++) digits.Append(bytes[i].ToString("x2"));
            return digits.ToString();
        }

        public static void Demand(bool ok)
        {
            if (!ok) throw new Refusal(Refusal.BadRequest);
        }

        public static T As<T>(object value)
        {
            Demand(value is T);
            return (T)value;
        }

        private T Field<T>(string name)
        {
            Demand(members.TryGetValue(name, out object value));
            return As<T>(value);
        }

        private static int Digit(char c)
        {
            int value = "0123456789abcdef".IndexOf(c);
            Demand(value >= 0);
            return value;
        }
    }
}
