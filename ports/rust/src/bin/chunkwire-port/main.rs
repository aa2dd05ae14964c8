//! The port contract (appendix B): one JSON object a line on standard input, one on standard
//! output for each. At the end of input the process exits with 0.

#![forbid(unsafe_code)]

mod fields;
mod json;
mod repair;
mod trace;

use chunkwire::{decode_body, decode_packet, encode_body, encode_packet, Ack, Kind, NumSlices, Packet, Slice};
use fields::{to_hex, Fields, Refused, BAD_REQUEST, INVALID_FIELD, UNSUPPORTED};
use json::{int, object, parse, text, Json};
use std::io::{self, BufRead, Write};

type Answer = Result<(&'static str, Json), Refused>;

fn main() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        writeln!(output, "{}", respond(line.strip_suffix(b"\n").unwrap_or(&line)))?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// The response to one line, whatever it holds (PRT-3).
fn respond(line: &[u8]) -> Json {
    let request = parse(line).unwrap_or(Json::Null);
    let id = Fields::of(&request).and_then(|fields| fields.int("id"));
    let answered = id.and_then(|_| answer_all(Fields::of(&request)?));
    let id = Some(id.map_or(Json::Null, Json::Int));
    match answered {
        Ok(values) => {
            let begin = [("id", id.unwrap_or(Json::Null)), ("ok", Json::Bool(true))];
            Json::Object(begin.into_iter().chain(values).map(|(name, value)| (name.to_owned(), value)).collect())
        }
        Err(code) => object([("id", id), ("ok", Some(Json::Bool(false))), ("error", Some(text(code)))]),
    }
}

/// The fields of the response.
fn answer_all(request: Fields<'_>) -> Result<Vec<(&'static str, Json)>, Refused> {
    if request.text("op")? == "repair_rebuild" {
        return repair::rebuild(request);
    }
    answer(request).map(|field| vec![field])
}

fn answer(request: Fields<'_>) -> Answer {
    match request.text("op")? {
        "encode_body" => read_packet(request, |packet| encode_body(&packet)),
        "encode_packet" => {
            let protocol_id = request.number("protocol_id")?;
            read_packet(request, |packet| encode_packet(protocol_id, &packet))
        }
        "decode_body" => {
            let kind = read_kind(request)?;
            decoded(decode_body(kind, &request.hex("hex")?))
        }
        "decode_packet" => decoded(decode_packet(request.number("protocol_id")?, &request.hex("hex")?)),
        "sender" => Ok(("steps", trace::sender(request)?)),
        "receiver" => Ok(("steps", trace::receiver(request)?)),
        "repair_row" => repair::row(request),
        "repair_slice" => repair::slice(request),
        "repair_encode" => repair::encode(request),
        "repair_decode" => repair::decode(request),
        "repair_sender" => repair::sender(request),
        "repair_receiver" => repair::receiver(request),
        _ => Err(UNSUPPORTED),
    }
}

/// The type of a bare body.
fn read_kind(request: Fields<'_>) -> Result<Kind, Refused> {
    match request.text("type")? {
        "slice" => Ok(Kind::Slice),
        "ack" => Ok(Kind::Ack),
        _ => Err(BAD_REQUEST),
    }
}

fn decoded(result: Result<Packet<'_>, chunkwire::DecodeError>) -> Answer {
    let packet = result.map_err(|error| error.code().name())?;
    Ok(("packet", describe(&packet)))
}

/// PRT-2.
fn describe(packet: &Packet<'_>) -> Json {
    match packet {
        Packet::Slice(slice) => object([
            ("type", Some(text("slice"))),
            ("chunk_id", Some(int(slice.chunk_id()))),
            ("slice_id", Some(int(slice.slice_id()))),
            ("num_slices", Some(int(slice.num_slices().get()))),
            ("data", Some(text(to_hex(slice.data())))),
        ]),
        Packet::Ack(ack) => trace::describe_ack(ack),
    }
}

/// Encodes the packet of a request. Its fields are there and have their types before their values
/// are looked at.
fn read_packet(request: Fields<'_>, encode: impl Fn(Packet<'_>) -> chunkwire::Encoded) -> Answer {
    let fields = request.object("packet")?;
    let encoded = match fields.text("type")? {
        "slice" => {
            let [chunk_id, slice_id, num_slices] =
                [fields.int("chunk_id")?, fields.int("slice_id")?, fields.int("num_slices")?];
            let data = fields.hex("data")?;
            let num_slices = usize::try_from(num_slices).ok().and_then(NumSlices::new).ok_or(INVALID_FIELD)?;
            let slice = Slice::new(valid(chunk_id)?, valid(slice_id)?, num_slices, &data);
            encode(slice.map_err(|_| INVALID_FIELD)?.into())
        }
        "ack" => {
            let (chunk_id, bits) = (fields.int("chunk_id")?, fields.text("acked")?);
            let ack = read_ack(valid(chunk_id)?, bits).ok_or(INVALID_FIELD)?;
            encode(ack.into())
        }
        _ => return Err(INVALID_FIELD), // ENC-6
    };
    Ok(("hex", text(to_hex(&encoded))))
}

/// A number that a field of a packet holds.
fn valid<T: TryFrom<i128>>(number: i128) -> Result<T, Refused> {
    T::try_from(number).map_err(|_| INVALID_FIELD)
}

/// An ack from one character a slice, slice 0 first (PRT-2).
fn read_ack(chunk_id: u16, bits: &str) -> Option<Ack> {
    let num_slices = NumSlices::new(bits.len())?;
    if bits.bytes().any(|bit| bit != b'0' && bit != b'1') {
        return None;
    }
    let acked = (0..=num_slices.last()).zip(bits.bytes()).filter(|&(_, bit)| bit == b'1').map(|(k, _)| k).collect();
    Ack::new(chunk_id, num_slices, acked).ok()
}
