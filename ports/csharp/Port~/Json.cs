using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Chunkwire.Port
{
    /// <summary>An integer of a request. Those beyond 64 bits are the nearest one of 64 bits, which no field allows.</summary>
    internal struct Integer
    {
        public long Value;

        /// <summary>The digits as they came.</summary>
        public string Text;
    }

    /// <summary>A number with a fraction or an exponent, which no field of the contract is.</summary>
    internal sealed class Fraction
    {
    }

    /// <summary>
    /// Reads one JSON text (RFC 8259), strictly.
    /// An object is a Dictionary, a list a List, a number an <see cref="Integer"/> or a <see cref="Fraction"/>.
    /// </summary>
    internal sealed class JsonReader
    {
        /// <summary>The most objects and lists inside each other.</summary>
        private const int MaxDepth = 10000;

        private readonly string text;
        private int position;
        private int depth;

        private JsonReader(string text)
        {
            this.text = text;
        }

        /// <exception cref="FormatException">It is no JSON.</exception>
        public static object Read(string text)
        {
            var reader = new JsonReader(text);
            object value = reader.Value();
            reader.Space();
            Demand(reader.position == text.Length);
            return value;
        }

        private object Value()
        {
            Space();
            switch (Peek())
            {
                case '{': return Nested(Object);
                case '[': return Nested(List);
                case '"': return String();
                case 't': return Word("true", true);
                case 'f': return Word("false", false);
                case 'n': return Word("null", null);
                default: return Number();
            }
        }

        private object Nested(Func<object> read)
        {
            Demand(++depth <= MaxDepth);
            object value = read();
            depth--;
            return value;
        }

        private object Object()
        {
            var members = new Dictionary<string, object>();
            Take('{');
            Space();
            if (TryTake('}')) return members;
            do
            {
                Space();
                string name = String();
                Space();
                Take(':');
                members[name] = Value();
                Space();
            }
            while (TryTake(','));
            Take('}');
            return members;
        }

        private object List()
        {
            var elements = new List<object>();
            Take('[');
            Space();
            if (TryTake(']')) return elements;
            do
            {
                elements.Add(Value());
                Space();
            }
            while (TryTake(','));
            Take(']');
            return elements;
        }

        private string String()
        {
            var builder = new StringBuilder();
            Take('"');
            while (!TryTake('"'))
            {
                char c = Next();
                Demand(c >= ' ');
                builder.Append(c == '\\' ? Escaped() : c);
            }
            return builder.ToString();
        }

        private char Escaped()
        {
            char c = Next();
            int known = "\"\\/bfnrt".IndexOf(c);
            if (known >= 0) return "\"\\/\b\f\n\r\t"[known];
            Demand(c == 'u' && position + 4 <= text.Length);
            string digits = text.Substring(position, 4);
            position += 4;
            Demand(int.TryParse(digits, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out int code));
            return (char)code;
        }

        private object Word(string word, object value)
        {
            Demand(string.CompareOrdinal(text, position, word, 0, word.Length) == 0);
            position += word.Length;
            return value;
        }

        private object Number()
        {
            int start = position;
            TryTake('-');
            int digits = position;
            Digits();
            Demand(position == digits + 1 || text[digits] != '0');
            int end = position;
            if (TryTake('.')) Digits();
            if (TryTake('e') || TryTake('E'))
            {
                if (!TryTake('+')) TryTake('-');
                Digits();
            }
            if (position > end) return new Fraction();
            string number = text.Substring(start, end - start);
            if (!long.TryParse(number, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long value))
            {
                value = number[0] == '-' ? long.MinValue : long.MaxValue;
            }
            return new Integer { Value = value, Text = number == "-0" ? "0" : number };
        }

        private void Digits()
        {
            int start = position;
            while (position < text.Length && text[position] >= '0' && text[position] <= '9') position++;
            Demand(position > start);
        }

        private void Space()
        {
            while (position < text.Length && " \t\r\n".IndexOf(text[position]) >= 0) position++;
        }

        private char Peek()
        {
            Demand(position < text.Length);
            return text[position];
        }

        private char Next()
        {
            char c = Peek();
            position++;
            return c;
        }

        private void Take(char c)
        {
            Demand(TryTake(c));
        }

        private bool TryTake(char c)
        {
            bool here = position < text.Length && text[position] == c;
            if (here) position++;
            return here;
        }

        private static void Demand(bool ok)
        {
            if (!ok) throw new FormatException();
        }
    }

    /// <summary>Writes one JSON object; texts are those of the contract and need no escapes.</summary>
    internal sealed class JsonWriter
    {
        private readonly StringBuilder text = new StringBuilder();
        private bool separate;

        public JsonWriter Begin(char bracket)
        {
            Separate();
            text.Append(bracket);
            separate = false;
            return this;
        }

        public JsonWriter End(char bracket)
        {
            text.Append(bracket);
            separate = true;
            return this;
        }

        public JsonWriter Name(string name)
        {
            Separate();
            text.Append('"').Append(name).Append("\":");
            separate = false;
            return this;
        }

        public JsonWriter String(string name, string value)
        {
            return Name(name).Raw("\"" + value + "\"");
        }

        public JsonWriter Number(string name, long value)
        {
            return Name(name).Raw(value.ToString(CultureInfo.InvariantCulture));
        }

        public JsonWriter Raw(string value)
        {
            Separate();
            text.Append(value);
            separate = true;
            return this;
        }

        public override string ToString()
        {
            return text.ToString();
        }

        private void Separate()
        {
            if (separate) text.Append(',');
        }
    }
}
