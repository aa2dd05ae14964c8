//! The fields of requests, by their JSON types (PRT-3).

use crate::json::Json;
use std::ops::RangeInclusive;

/// Why a request cannot be answered: a code of appendix E.
pub type Refused = &'static str;

pub const BAD_REQUEST: Refused = "bad_request";
pub const UNSUPPORTED: Refused = "unsupported";
pub const INVALID_FIELD: Refused = "invalid_field";

/// An object of a request.
#[derive(Clone, Copy)]
pub struct Fields<'a>(&'a [(String, Json)]);

impl<'a> Fields<'a> {
    pub fn of(value: &'a Json) -> Result<Fields<'a>, Refused> {
        match value {
            Json::Object(fields) => Ok(Fields(fields)),
            _ => Err(BAD_REQUEST),
        }
    }

    /// A field that may be missing; of several with one name the last counts.
    pub fn optional(&self, name: &str) -> Option<&'a Json> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub fn value(&self, name: &str) -> Result<&'a Json, Refused> {
        self.optional(name).ok_or(BAD_REQUEST)
    }

    pub fn object(&self, name: &str) -> Result<Fields<'a>, Refused> {
        Fields::of(self.value(name)?)
    }

    pub fn list(&self, name: &str) -> Result<&'a [Json], Refused> {
        match self.value(name)? {
            Json::List(items) => Ok(items),
            _ => Err(BAD_REQUEST),
        }
    }

    pub fn text(&self, name: &str) -> Result<&'a str, Refused> {
        match self.value(name)? {
            Json::Text(text) => Ok(text),
            _ => Err(BAD_REQUEST),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, Refused> {
        match self.value(name)? {
            Json::Bool(flag) => Ok(*flag),
            _ => Err(BAD_REQUEST),
        }
    }

    /// Any integer.
    pub fn int(&self, name: &str) -> Result<i128, Refused> {
        match self.value(name)? {
            Json::Int(number) => Ok(*number),
            _ => Err(BAD_REQUEST),
        }
    }

    /// An integer that the type holds.
    pub fn number<T: TryFrom<i128>>(&self, name: &str) -> Result<T, Refused> {
        T::try_from(self.int(name)?).map_err(|_| BAD_REQUEST)
    }

    /// An integer within limits.
    pub fn within(&self, name: &str, limits: RangeInclusive<i64>) -> Result<i64, Refused> {
        self.number(name).and_then(|number| if limits.contains(&number) { Ok(number) } else { Err(BAD_REQUEST) })
    }

    /// Lower-case hex.
    pub fn hex(&self, name: &str) -> Result<Vec<u8>, Refused> {
        let digits = self.text(name)?.as_bytes();
        let digit = |b: u8| match b {
            b'0'..=b'9' => Ok(b - b'0'),
            b'a'..=b'f' => Ok(b - b'a' + 10),
            _ => Err(BAD_REQUEST),
        };
        digits
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => Ok(digit(*high)? << 4 | digit(*low)?),
                _ => Err(BAD_REQUEST),
            })
            .collect()
    }
}

/// Bytes as lower-case hex.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
