/** JSON whose integers are bigints: times reach beyond 2^53, where JSON.parse rounds. */

export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

const TOKEN =
  /[ \t\r\n]*(?:([{}[\],:])|("[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null)|($))/y;

interface Token {
  readonly mark: string | undefined;
  readonly value: Json | undefined;
}

/** Reads one JSON text; integers become bigints, other numbers do not. Throws SyntaxError. */
export function parse(text: string): Json {
  const parser = new Parser(text);
  const value = parser.value(parser.next());
  if (parser.next().mark !== "") throw new SyntaxError("more than one value");
  return value;
}

/** Writes a JSON text on one line; fields that are undefined are left out. */
export function stringify(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(stringify).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).flatMap(([key, field]) =>
    field === undefined ? [] : [`${JSON.stringify(key)}:${stringify(field)}`],
  );
  return `{${fields.join(",")}}`;
}

class Parser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next token: a mark, which is empty at the end, or a value. */
  next(): Token {
    TOKEN.lastIndex = this.#position;
    const match = TOKEN.exec(this.#text);
    if (match === null) throw new SyntaxError(`no JSON at ${this.#position}`);
    this.#position = TOKEN.lastIndex;
    const [, mark, string, number, word] = match;
    if (number !== undefined) return { mark: undefined, value: parseNumber(number) };
    const plain = string ?? word;
    if (plain !== undefined) return { mark: undefined, value: JSON.parse(plain) as Json };
    return { mark: mark ?? "", value: undefined };
  }

  /** The value that begins with `token`. */
  value(token: Token): Json {
    if (token.value !== undefined) return token.value;
    if (token.mark === "[") return this.#array();
    if (token.mark === "{") return this.#object();
    throw new SyntaxError("a value is missing");
  }

  #array(): Json[] {
    const items: Json[] = [];
    let token = this.next();
    if (token.mark === "]") return items;
    for (;;) {
      items.push(this.value(token));
      if (this.#ends("]")) return items;
      token = this.next();
    }
  }

  #object(): JsonObject {
    const fields = Object.create(null) as Record<string, Json>;
    let token = this.next();
    if (token.mark === "}") return fields;
    for (;;) {
      if (typeof token.value !== "string") throw new SyntaxError("a key is missing");
      if (this.next().mark !== ":") throw new SyntaxError("a colon is missing");
      fields[token.value] = this.value(this.next());
      if (this.#ends("}")) return fields;
      token = this.next();
    }
  }

  /** Reads a comma or the closing mark and returns whether it was the latter. */
  #ends(mark: string): boolean {
    const token = this.next();
    if (token.mark === mark) return true;
    if (token.mark === ",") return false;
    throw new SyntaxError("a comma is missing");
  }
}

function parseNumber(text: string): number | bigint {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
}
