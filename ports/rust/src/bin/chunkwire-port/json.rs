//! JSON as the port contract needs it (RFC 8259).

use std::fmt;

/// Nested deeper, a line is no request.
const DEPTH: u32 = 64;

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    /// A number without fraction and exponent.
    Int(i128),
    /// Any other number.
    Number,
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// What `Object` has, where fields that are there only sometimes are left out.
pub fn object<const N: usize>(fields: [(&str, Option<Json>); N]) -> Json {
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Json::Object(fields.collect())
}

pub fn text(text: impl fmt::Display) -> Json {
    Json::Text(text.to_string())
}

pub fn int(number: impl Into<i128>) -> Json {
    Json::Int(number.into())
}

/// Writes a value on one line.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null | Json::Number => f.write_str("null"),
            Json::Bool(value) => value.fmt(f),
            Json::Int(value) => value.fmt(f),
            Json::Text(text) => write_text(f, text),
            Json::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    f.write_str(if i > 0 { "," } else { "" })?;
                    write_text(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", u32::from(c))?,
            _ => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Reads one JSON text; `None` if it is none.
pub fn parse(line: &[u8]) -> Option<Json> {
    let mut parser = Parser { rest: std::str::from_utf8(line).ok()? };
    let value = parser.value(0)?;
    parser.space();
    parser.rest.is_empty().then_some(value)
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: u32) -> Option<Json> {
        self.space();
        if depth > DEPTH {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.fields(depth),
            '[' => self.items(depth),
            '"' => self.text().map(Json::Text),
            't' => self.takes("true").then_some(Json::Bool(true)),
            'f' => self.takes("false").then_some(Json::Bool(false)),
            'n' => self.takes("null").then_some(Json::Null),
            _ => self.number(),
        }
    }

    fn fields(&mut self, depth: u32) -> Option<Json> {
        let mut fields = Vec::new();
        self.takes("{");
        if self.mark("}") {
            return Some(Json::Object(fields));
        }
        loop {
            self.space();
            let name = self.text()?;
            if !self.mark(":") {
                return None;
            }
            fields.push((name, self.value(depth + 1)?));
            if self.mark("}") {
                return Some(Json::Object(fields));
            }
            if !self.mark(",") {
                return None;
            }
        }
    }

    fn items(&mut self, depth: u32) -> Option<Json> {
        let mut items = Vec::new();
        self.takes("[");
        if self.mark("]") {
            return Some(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.mark("]") {
                return Some(Json::List(items));
            }
            if !self.mark(",") {
                return None;
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        let mut text = String::new();
        if !self.takes("\"") {
            return None;
        }
        loop {
            match self.next()? {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                '\0'..='\x1f' => return None,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            c @ ('"' | '\\' | '/') => c,
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = self.unit()?;
                if !(0xd800..0xe000).contains(&unit) {
                    return char::from_u32(unit);
                }
                let low = if self.takes("\\u") { self.unit()? } else { return None };
                let pair = char::decode_utf16([unit as u16, low as u16]).next()?;
                return pair.ok();
            }
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = self.rest.get(4..)?;
        u32::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<Json> {
        let is_part = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        let digits = number.strip_prefix('-').unwrap_or(number);
        let whole = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        if whole == 0 || (digits.starts_with('0') && whole > 1) {
            return None;
        }
        if whole == digits.len() {
            return Some(number.parse().map_or(Json::Number, Json::Int));
        }
        is_tail(&digits[whole..]).then_some(Json::Number)
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn takes(&mut self, word: &str) -> bool {
        match self.rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn mark(&mut self, mark: &str) -> bool {
        self.space();
        self.takes(mark)
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
    }
}

/// Whether it is a fraction, an exponent or both.
fn is_tail(tail: &str) -> bool {
    let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let (fraction, exponent) = match tail.split_once(['e', 'E']) {
        Some((fraction, exponent)) => (fraction, Some(exponent)),
        None => (tail, None),
    };
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    (fraction.is_empty() || fraction.strip_prefix('.').map_or(false, all_digits)) && exponent.map_or(true, all_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for line in [
            r#"{"id":1,"ok":true,"steps":[{"deadline_us":null},[],{}]}"#,
            r#"["\"\\\u0001é😀",-170141183460469231731687303715884105728,0]"#,
        ] {
            assert_eq!(parse(line.as_bytes()).unwrap().to_string(), line);
        }
    }

    #[test]
    fn all_of_json_is_read() {
        let expected = Json::List(vec![Json::Number, Json::Number, Json::Number, text("/\u{8}\u{c}\n\r\té😀")]);
        assert_eq!(parse(br#" [ 1.5 , -2e+10,0.5E-3 ,"\/\b\f\n\r\t\u00e9\ud83d\ude00" ] "#), Some(expected));
        assert_eq!(parse(&[b"1".as_ref(), &[b'0'; 60]].concat()), Some(Json::Number));
    }

    #[test]
    fn all_else_is_refused() {
        let deep = "[".repeat(1000);
        for line in [
            "",
            "hello",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{1:2}",
            "[1 2]",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "\"a",
            "\"\t\"",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\u12\"",
            "nul",
            "1 2",
            "\"\\u00é\"",
            &deep,
        ] {
            assert_eq!(parse(line.as_bytes()), None, "{line}");
        }
        assert_eq!(parse(&[b'"', 0xff, b'"']), None);
    }
}
