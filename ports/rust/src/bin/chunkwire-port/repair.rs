//! The operations of the port for repair slices (REPAIR.md, appendix C).

use crate::fields::{to_hex, Fields, Refused, BAD_REQUEST, INVALID_FIELD, UNSUPPORTED};
use crate::json::{int, object, text, Json};
use crate::trace::{content, describe_data, name_of, name_of_row, read_at, read_config, steps};
use crate::{read_kind, valid, Answer};
use chunkwire::*;

const MOST_ARRIVALS: usize = 1024;
const MOST_DUE: i64 = 16_384;

/// RPO-1.
pub fn row(request: Fields<'_>) -> Answer {
    let (n, id) = (request.int("num_slices")?, request.int("slice_id")?);
    let num_slices = read_num_slices(n)?;
    let id: u16 = valid(id)?;
    if id < num_slices.get() || id >= MAX_IDS {
        return Err(INVALID_FIELD);
    }
    let exponents = (0..=num_slices.last()).map(|i| int(exponent(id - num_slices.get(), i)));
    Ok(("exponents", Json::List(exponents.collect())))
}

/// RPO-2.
pub fn slice(request: Fields<'_>) -> Answer {
    let (chunk_id, size, id) = (request.int("chunk_id")?, request.int("size")?, request.int("slice_id")?);
    let (chunk_id, size, id) = (valid(chunk_id)?, valid(size)?, valid(id)?);
    if ChunkSize::new(size).is_none() || id >= MAX_IDS {
        return Err(INVALID_FIELD);
    }
    Ok(("slice", describe_data(&slice_data(&content(chunk_id, 0, size), id))))
}

fn slice_data(chunk: &[u8], id: u16) -> Vec<u8> {
    let mut data = [0; SLICE_SIZE];
    let size = repair_slice_of(chunk, id, &mut data).unwrap_or(0);
    data[..size].to_vec()
}

/// RPO-3.
pub fn rebuild(request: Fields<'_>) -> Result<Vec<(&'static str, Json)>, Refused> {
    let [chunk_id, n, last] = [request.int("chunk_id")?, request.int("num_slices")?, request.int("last_bytes")?];
    let ids = request.list("slice_ids")?.iter().map(|id| match id {
        Json::Int(id) => Ok(*id),
        _ => Err(BAD_REQUEST),
    });
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let (chunk_id, size) = (valid(chunk_id)?, read_size(n, last)?);
    if ids.len() > MOST_ARRIVALS || ids.iter().any(|id| !(0..i128::from(MAX_IDS)).contains(id)) {
        return Err(INVALID_FIELD);
    }
    let chunk = content(chunk_id, 0, size.bytes());
    let mut receiver = RepairReceiver::new(Config::default(), vec![0; repair_memory(size.num_slices())]);
    let (mut added, mut rank) = (String::new(), 0);
    for id in ids {
        let data = slice_data(&chunk, id as u16);
        let slice = RepairSlice::new(0, id as u16, size, &data).map_err(|_| INVALID_FIELD)?;
        let row = receiver.slice(0, &slice);
        let adds = matches!(
            row,
            Some(RepairReceiverRow::U1 | RepairReceiverRow::U2 | RepairReceiverRow::U5 | RepairReceiverRow::U6)
        );
        rank += i32::from(adds);
        added.push(if adds { '1' } else { '0' });
    }
    let chunk = receiver.read(0).map_or(Json::Null, describe_data);
    Ok(vec![("added", text(added)), ("rank", int(rank)), ("chunk", chunk)])
}

/// RPO-4.
pub fn encode(request: Fields<'_>) -> Answer {
    let protocol_id = read_protocol_id(request)?;
    let fields = request.object("packet")?;
    let put = |packet: RepairPacket<'_>| match protocol_id {
        Some(id) => to_hex(&encode_repair_packet(id, &packet)),
        None => to_hex(&encode_repair_body(&packet)),
    };
    let hex = match fields.text("type")? {
        "slice" => {
            let [chunk_id, id, n, last] = [
                fields.int("chunk_id")?,
                fields.int("slice_id")?,
                fields.int("num_slices")?,
                fields.int("last_bytes")?,
            ];
            let data = fields.hex("data")?;
            let slice = RepairSlice::new(valid(chunk_id)?, valid(id)?, read_size(n, last)?, &data);
            put(slice.map_err(|_| INVALID_FIELD)?.into())
        }
        "ack" => put(read_ack(fields)?.map_err(|_| INVALID_FIELD)?.into()),
        _ => return Err(INVALID_FIELD),
    };
    Ok(("hex", text(hex)))
}

pub fn decode(request: Fields<'_>) -> Answer {
    let protocol_id = read_protocol_id(request)?;
    let kind = if protocol_id.is_none() { Some(read_kind(request)?) } else { None };
    let bytes = request.hex("hex")?;
    let decoded = match (protocol_id, kind) {
        (Some(id), _) => decode_repair_packet(id, &bytes),
        (None, Some(kind)) => decode_repair_body(kind, &bytes),
        _ => return Err(BAD_REQUEST),
    };
    Ok(("packet", describe(&decoded.map_err(|error| error.code().name())?)))
}

fn read_protocol_id(request: Fields<'_>) -> Result<Option<u32>, Refused> {
    request.optional("protocol_id").map(|_| request.number("protocol_id")).transpose()
}

fn read_num_slices(n: i128) -> Result<NumSlices, Refused> {
    usize::try_from(n).ok().and_then(NumSlices::new).ok_or(INVALID_FIELD)
}

fn read_size(n: i128, last_bytes: i128) -> Result<ChunkSize, Refused> {
    let num_slices = read_num_slices(n)?;
    if !(1..=SLICE_SIZE as i128).contains(&last_bytes) {
        return Err(INVALID_FIELD);
    }
    ChunkSize::new(SLICE_SIZE * usize::from(num_slices.last()) + last_bytes as usize).ok_or(INVALID_FIELD)
}

/// An ack; its fields are there and have their types before their values are looked at.
fn read_ack(fields: Fields<'_>) -> Result<Result<RepairAck, Refused>, Refused> {
    let [chunk_id, n, have, top] =
        [fields.int("chunk_id")?, fields.int("num_slices")?, fields.int("have")?, fields.int("top")?];
    let made =
        || RepairAck::new(valid(chunk_id)?, read_num_slices(n)?, valid(have)?, valid(top)?).map_err(|_| INVALID_FIELD);
    Ok(made())
}

fn describe(packet: &RepairPacket<'_>) -> Json {
    match packet {
        RepairPacket::Slice(slice) => {
            let data = ("data", Some(text(to_hex(slice.data()))));
            let [kind, chunk_id, id, n, last] = slice_fields(slice);
            object([kind, chunk_id, id, n, last, data])
        }
        RepairPacket::Ack(ack) => describe_ack(ack),
    }
}

fn slice_fields(slice: &RepairSlice<'_>) -> [(&'static str, Option<Json>); 5] {
    let last = slice.size().slice_bytes(slice.num_slices().last()) as u64;
    [
        ("type", Some(text("slice"))),
        ("chunk_id", Some(int(slice.chunk_id()))),
        ("slice_id", Some(int(slice.slice_id()))),
        ("num_slices", Some(int(slice.num_slices().get()))),
        ("last_bytes", Some(int(last))),
    ]
}

/// A slice in a step (RPO-8).
fn summarize(slice: &RepairSlice<'_>) -> Json {
    let [kind, chunk_id, id, n, last] = slice_fields(slice);
    let size = ("size", Some(int(slice.data().len() as u64)));
    object([kind, chunk_id, id, n, last, size, ("crc32", Some(int(crc32(slice.data()))))])
}

fn describe_ack(ack: &RepairAck) -> Json {
    object([
        ("type", Some(text("ack"))),
        ("chunk_id", Some(int(ack.chunk_id()))),
        ("num_slices", Some(int(ack.num_slices().get()))),
        ("have", Some(int(ack.have()))),
        ("top", Some(int(ack.top()))),
    ])
}

// Traces.

/// RPO-6.
pub fn sender(request: Fields<'_>) -> Answer {
    let fields = request.object("config")?;
    let config = read_config(fields)?;
    let mut sender = RepairSender::new(config, read_scheduler(fields)?);
    let steps = steps(request, |position, name, event| {
        let (row, packets, error) = sender_event(&mut sender, name, event)?;
        let (sent, have, top) = sender.counts();
        Ok(object([
            ("event", Some(int(position as u64))),
            ("row", Some(text(name_of_row(row)))),
            ("state", Some(text(name_of(sender.state())))),
            ("chunk_id", Some(int(sender.chunk_id()))),
            ("sent", Some(int(sent))),
            ("have", Some(int(have))),
            ("top", Some(int(top))),
            ("deadline_us", Some(sender.deadline().map_or(Json::Null, int))),
            ("packets", Some(Json::List(packets))),
            ("error", error.map(text)),
        ]))
    })?;
    Ok(("steps", steps))
}

type SenderOutcome = (RepairSenderRow, Vec<Json>, Option<&'static str>);

fn sender_event(
    sender: &mut RepairSender<Vec<u8>, Choice>,
    name: &str,
    event: Fields<'_>,
) -> Result<SenderOutcome, Refused> {
    match name {
        "submit" => {
            let (at, size) = (read_at(event)?, event.within("size", 0..=2 * MAX_CHUNK as i64)?);
            let refused = sender.submit(at, content(sender.chunk_id(), 0, size as usize)).err();
            Ok(refused
                .map_or((RepairSenderRow::T1, vec![], None), |refused| (refused.row(), vec![], Some(refused.code()))))
        }
        "ack" => {
            let at = read_at(event)?;
            let ack = read_ack(event)?.map_err(|_| BAD_REQUEST)?;
            Ok((sender.ack(at, &ack), vec![], None))
        }
        "poll" => {
            let at = read_at(event)?;
            let due = event.optional("due").map_or(Ok(0), |_| event.within("due", 0..=MOST_DUE))?;
            let sending = sender.state() == SenderState::Sending;
            match sender.scheduler() {
                Choice::Script(left) if sending || due == 0 => *left = due,
                _ if due == 0 => {}
                _ => return Err(BAD_REQUEST),
            }
            let mut packets = Vec::new();
            loop {
                let polled = sender.poll(at);
                match polled.packet {
                    Some(slice) => packets.push(summarize(&slice)),
                    None => return Ok((polled.row, packets, None)),
                }
            }
        }
        _ => Err(UNSUPPORTED),
    }
}

/// RPO-5: null is the scripted scheduler.
fn read_scheduler(config: Fields<'_>) -> Result<Choice, Refused> {
    if *config.value("profile")? == Json::Null {
        return Ok(Choice::Script(0));
    }
    let profile = config.object("profile")?;
    let (redundant, burst, fixed) = (profile.flag("redundant")?, profile.flag("burst")?, profile.flag("fixed")?);
    let recovery = match (redundant, burst, fixed) {
        (false, false, false) => Recovery::Adaptive,
        (true, false, false) => Recovery::Redundant,
        (false, true, false) => Recovery::Burst,
        (false, false, true) => Recovery::Fixed,
        _ => return Err(BAD_REQUEST),
    };
    let rule = Rateless::new(recovery, profile.number("rate")?).map_err(|_| BAD_REQUEST)?;
    Ok(Choice::Rule(Box::new(rule)))
}

/// RPO-7.
pub fn receiver(request: Fields<'_>) -> Answer {
    let config = read_config(request.object("config")?)?;
    let memory = repair_memory(NumSlices::with_last(u8::MAX));
    let mut receiver = RepairReceiver::new(config, vec![0; memory]);
    let steps = steps(request, |position, name, event| {
        let (row, packets, chunk, error) = receiver_event(&mut receiver, name, event)?;
        let (have, top) = receiver.counts().map_or((0, 0), |(_, have, top)| (have, top));
        Ok(object([
            ("event", Some(int(position as u64))),
            ("row", Some(text(name_of_row(row)))),
            ("state", Some(text(name_of(receiver.state())))),
            ("chunk_id", Some(int(receiver.chunk_id()))),
            ("have", Some(int(have))),
            ("top", Some(int(top))),
            ("inconsistent", Some(int(receiver.inconsistent()))),
            ("deadline_us", Some(receiver.deadline().map_or(Json::Null, int))),
            ("packets", Some(Json::List(packets))),
            ("chunk", chunk),
            ("error", error.map(text)),
        ]))
    })?;
    Ok(("steps", steps))
}

type ReceiverOutcome = (RepairReceiverRow, Vec<Json>, Option<Json>, Option<&'static str>);

fn receiver_event(
    receiver: &mut RepairReceiver<Vec<u8>>,
    name: &str,
    event: Fields<'_>,
) -> Result<ReceiverOutcome, Refused> {
    match name {
        "slice" => {
            let at = read_at(event)?;
            let row = read_slice(event, |slice| receiver.slice(at, &slice))?.ok_or(BAD_REQUEST)?;
            Ok((row, vec![], None, None))
        }
        "read" => Ok(match receiver.read(read_at(event)?) {
            Ok(chunk) => (RepairReceiverRow::U17, vec![], Some(describe_data(chunk)), None),
            Err(NoChunk(row)) => (row, vec![], None, Some("nothing_to_read")),
        }),
        "poll" => {
            let (at, mut packets) = (read_at(event)?, Vec::new());
            loop {
                let polled = receiver.poll(at);
                match polled.packet {
                    Some(ack) => packets.push(describe_ack(&ack)),
                    None => return Ok((polled.row, packets, None, None)),
                }
            }
        }
        _ => Err(UNSUPPORTED),
    }
}

/// A slice with the bytes that it has in its chunk, or `fill`.
fn read_slice<T>(event: Fields<'_>, take: impl FnOnce(RepairSlice<'_>) -> T) -> Result<T, Refused> {
    let (chunk_id, id) = (event.number("chunk_id")?, event.number("slice_id")?);
    let size = read_size(event.int("num_slices")?, event.int("last_bytes")?).map_err(|_| BAD_REQUEST)?;
    if id >= MAX_IDS {
        return Err(BAD_REQUEST);
    }
    let data = match event.optional("fill") {
        Some(_) => vec![event.number("fill")?; repair_slice_bytes(size, id)],
        None => slice_data(&content(chunk_id, 0, size.bytes()), id),
    };
    RepairSlice::new(chunk_id, id, size, &data).map(take).map_err(|_| BAD_REQUEST)
}

/// The scheduler of a trace.
enum Choice {
    /// Lets as many slices go out as the events say.
    Script(i64),
    Rule(Box<Rateless>),
}

impl RepairScheduler for Choice {
    fn start(&mut self, now: Micros, num_slices: NumSlices) {
        if let Choice::Rule(rule) = self {
            rule.start(now, num_slices);
        }
    }

    fn news(&mut self, now: Micros, have: u16, top: u32) {
        if let Choice::Rule(rule) = self {
            rule.news(now, have, top);
        }
    }

    fn hold(&mut self, now: Micros) {
        if let Choice::Rule(rule) = self {
            rule.hold(now);
        }
    }

    fn next(&mut self, now: Micros) -> bool {
        match self {
            Choice::Script(left) => {
                let goes = *left > 0;
                *left -= i64::from(goes);
                goes
            }
            Choice::Rule(rule) => rule.next(now),
        }
    }

    fn deadline(&self) -> Option<Micros> {
        match self {
            Choice::Script(_) => None,
            Choice::Rule(rule) => rule.deadline(),
        }
    }
}
