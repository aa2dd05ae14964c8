//! Traces: a machine's answers to a list of events (appendix B).

use crate::fields::{Fields, Refused, BAD_REQUEST, UNSUPPORTED};
use crate::json::{int, object, text, Json};
use crate::read_ack;
use chunkwire::*;
use std::collections::VecDeque;
use std::fmt::Debug;

const LONGEST_DELAY: i64 = 1_000_000_000; // TRC-6
const LATEST: Micros = (1 << 62) - 1; // TIM-3

/// The steps of a sender (TRC-2, TRC-4).
pub fn sender(request: Fields<'_>) -> Result<Json, Refused> {
    let fields = request.object("config")?;
    let config = read_config(fields)?;
    let mut sender = Sender::new(config, read_scheduler(fields)?);
    let mut latest = None;
    steps(request, |position, name, event| {
        let (row, packets, error) = match path_event(&mut sender, name, event)? {
            Some(()) => (latest, vec![], None),
            None => sender_event(&mut sender, name, event).map(|(row, packets, error)| (Some(row), packets, error))?,
        };
        latest = row;
        let row = row.map_or(String::new(), name_of_row);
        let acked = sender.acked().map_or(String::new(), |(size, acked)| bits(size.num_slices(), acked));
        let machine = (name_of(sender.state()), sender.chunk_id(), ("acked", acked), sender.deadline());
        Ok(step(position, row, machine, packets, None, error))
    })
}

/// The steps of a receiver (TRC-3, TRC-4).
pub fn receiver(request: Fields<'_>) -> Result<Json, Refused> {
    let config = read_config(request.object("config")?)?;
    let mut receiver = Receiver::new(config, vec![0; MAX_CHUNK]);
    steps(request, |position, name, event| {
        let (row, packets, chunk, error) = receiver_event(&mut receiver, name, event)?;
        let received = receiver.received().map_or(String::new(), |(n, received)| bits(n, received));
        let machine = (name_of(receiver.state()), receiver.chunk_id(), ("received", received), receiver.deadline());
        Ok(step(position, name_of_row(row), machine, packets, chunk, error))
    })
}

/// One step for each event; the first event that cannot be taken decides (PRT-3).
pub fn steps(
    request: Fields<'_>,
    mut take: impl FnMut(usize, &str, Fields<'_>) -> Result<Json, Refused>,
) -> Result<Json, Refused> {
    let steps = request.list("events")?.iter().enumerate().map(|(position, event)| {
        let event = Fields::of(event)?;
        take(position, event.text("event")?, event)
    });
    steps.collect::<Result<_, _>>().map(Json::List)
}

/// State, chunk id, a field with a bit for each slice, and deadline.
type Machine<'a> = (String, u16, (&'a str, String), Option<Micros>);

fn step(
    position: usize,
    row: String,
    (state, chunk_id, (slices, have), deadline): Machine<'_>,
    packets: Vec<Json>,
    chunk: Option<Json>,
    error: Option<&str>,
) -> Json {
    object([
        ("event", Some(int(position as u64))),
        ("row", Some(Json::Text(row))),
        ("state", Some(text(state))),
        ("chunk_id", Some(int(chunk_id))),
        (slices, Some(text(have))),
        ("deadline_us", Some(deadline.map_or(Json::Null, int))),
        ("packets", Some(Json::List(packets))),
        ("chunk", chunk),
        ("error", error.map(text)),
    ])
}

/// What the scheduler of RECOVERY.md alone is told, which takes no row (RVO-3, RVO-4); `None`: it
/// is another event.
fn path_event(sender: &mut Sender<Vec<u8>, Choice>, name: &str, event: Fields<'_>) -> Result<Option<()>, Refused> {
    let adaptive = match sender.scheduler() {
        Choice::Adaptive(adaptive) => adaptive,
        _ => return Ok(None),
    };
    match name {
        "marks" => adaptive.marks(read_at(event).and(event.number("count"))?),
        "yield" => adaptive.yields(read_at(event).and(event.flag("yields"))?),
        _ => return Ok(None),
    }
    Ok(Some(()))
}

type SenderOutcome = (SenderRow, Vec<Json>, Option<&'static str>);

fn sender_event(sender: &mut Sender<Vec<u8>, Choice>, name: &str, event: Fields<'_>) -> Result<SenderOutcome, Refused> {
    match name {
        "submit" => {
            let (at, size) = (read_at(event)?, event.within("size", 0..=2 * MAX_CHUNK as i64)?);
            let refused = sender.submit(at, content(sender.chunk_id(), 0, size as usize)).err();
            Ok(refused.map_or((SenderRow::S1, vec![], None), |refused| (refused.row(), vec![], Some(refused.code()))))
        }
        "ack" => {
            let (at, chunk_id) = (read_at(event)?, event.number("chunk_id")?);
            let ack = read_ack(chunk_id, event.text("acked")?).ok_or(BAD_REQUEST)?;
            Ok((sender.ack(at, &ack), vec![], None))
        }
        "poll" => {
            let at = read_at(event)?;
            read_due(sender, event)?;
            let mut packets = Vec::new();
            loop {
                let polled = sender.poll(at);
                match polled.packet {
                    Some(slice) => packets.push(describe_slice(&slice)),
                    None => return Ok((polled.row, packets, None)),
                }
            }
        }
        _ => Err(UNSUPPORTED),
    }
}

type ReceiverOutcome = (ReceiverRow, Vec<Json>, Option<Json>, Option<&'static str>);

fn receiver_event(receiver: &mut Receiver<Vec<u8>>, name: &str, event: Fields<'_>) -> Result<ReceiverOutcome, Refused> {
    match name {
        "slice" => {
            let at = read_at(event)?;
            let row = read_slice(event, |slice| receiver.slice(at, &slice))?.ok_or(BAD_REQUEST)?;
            Ok((row, vec![], None, None))
        }
        "read" => Ok(match receiver.read(read_at(event)?) {
            Ok(chunk) => (ReceiverRow::R16, vec![], Some(describe_data(chunk)), None),
            Err(NothingToRead(row)) => (row, vec![], None, Some("nothing_to_read")),
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

// What requests say.

pub fn read_at(event: Fields<'_>) -> Result<Micros, Refused> {
    event.within("at", 0..=LATEST)
}

pub fn read_config(config: Fields<'_>) -> Result<Config, Refused> {
    Config::new(config.number("first_chunk_id")?, config.number("give_up_us")?).map_err(|_| BAD_REQUEST)
}

/// TRC-2: null is the scripted scheduler.
fn read_scheduler(config: Fields<'_>) -> Result<Choice, Refused> {
    if *config.value("profile")? == Json::Null {
        return Ok(Choice::Script(VecDeque::new()));
    }
    let figures = config.object("profile")?;
    if figures.optional("recovery").is_some() {
        return read_recovery(figures);
    }
    let profile = Profile {
        rate: figures.number("rate")?,
        cap: figures.number("cap")?,
        burst: figures.number("burst")?,
        acks_pay: figures.flag("acks_pay")?,
        spacing: figures.within("spacing_us", 0..=LONGEST_DELAY)?,
        resend_delay: figures.within("resend_delay_us", 0..=LONGEST_DELAY)?,
    };
    Base::new(profile).map(|base| Choice::Base(Box::new(base))).map_err(|_| BAD_REQUEST)
}

/// RVO-1.
fn read_recovery(profile: Fields<'_>) -> Result<Choice, Refused> {
    let recovery = match profile.text("recovery")? {
        "adaptive" => Recovery::Adaptive,
        "redundant" => Recovery::Redundant,
        "burst" => Recovery::Burst,
        "fixed" => Recovery::Fixed,
        _ => return Err(BAD_REQUEST),
    };
    let adaptive = Adaptive::new(recovery, profile.number("rate")?).map_err(|_| BAD_REQUEST)?;
    Ok(Choice::Adaptive(Box::new(adaptive)))
}

/// Gives the script the slices that a poll names.
fn read_due(sender: &mut Sender<Vec<u8>, Choice>, event: Fields<'_>) -> Result<(), Refused> {
    let ids = match event.optional("due") {
        Some(_) => event.list("due")?,
        None => &[],
    };
    let flight = sender.acked();
    let due = ids.iter().map(|id| match (id, flight) {
        (Json::Int(id), Some((size, acked))) => {
            let id = u8::try_from(*id).ok().filter(|&k| k <= size.num_slices().last() && !acked.contains(k));
            id.ok_or(BAD_REQUEST)
        }
        _ => Err(BAD_REQUEST),
    });
    let due: VecDeque<u8> = due.collect::<Result<_, _>>()?;
    match sender.scheduler() {
        Choice::Script(script) => *script = due,
        _ if due.is_empty() => {}
        _ => return Err(BAD_REQUEST),
    }
    Ok(())
}

/// TRC-3.
fn read_slice<T>(event: Fields<'_>, take: impl FnOnce(Slice<'_>) -> T) -> Result<T, Refused> {
    let chunk_id = event.number("chunk_id")?;
    let slice_id = event.number("slice_id")?;
    let num_slices = NumSlices::new(event.number("num_slices")?).ok_or(BAD_REQUEST)?;
    let size = event.within("size", 1..=SLICE_SIZE as i64)? as usize;
    let data = match event.optional("fill") {
        Some(_) => vec![event.number("fill")?; size],
        None => content(chunk_id, SLICE_SIZE * usize::from(slice_id), size),
    };
    Slice::new(chunk_id, slice_id, num_slices, &data).map(take).map_err(|_| BAD_REQUEST)
}

/// `size` bytes from byte `start` on of the chunk with this id (TRC-1).
pub fn content(chunk_id: u16, start: usize, size: usize) -> Vec<u8> {
    (start..start + size).map(|i| (i + 31 * (i / SLICE_SIZE) + 7 * usize::from(chunk_id)) as u8).collect()
}

// What responses say.

/// The name of a state, as the document writes it.
pub fn name_of(state: impl Debug) -> String {
    format!("{state:?}").to_uppercase()
}

pub fn name_of_row(row: impl Debug) -> String {
    format!("{row:?}")
}

/// One character a slice, slice 0 first.
fn bits(num_slices: NumSlices, set: SliceSet) -> String {
    (0..=num_slices.last()).map(|k| if set.contains(k) { '1' } else { '0' }).collect()
}

pub fn describe_ack(ack: &Ack) -> Json {
    object([
        ("type", Some(text("ack"))),
        ("chunk_id", Some(int(ack.chunk_id()))),
        ("acked", Some(text(bits(ack.num_slices(), ack.acked())))),
    ])
}

fn describe_slice(slice: &Slice<'_>) -> Json {
    object([
        ("type", Some(text("slice"))),
        ("chunk_id", Some(int(slice.chunk_id()))),
        ("slice_id", Some(int(slice.slice_id()))),
        ("num_slices", Some(int(slice.num_slices().get()))),
        ("size", Some(int(slice.data().len() as u64))),
        ("crc32", Some(int(crc32(slice.data())))),
    ])
}

/// TRC-1.
pub fn describe_data(data: &[u8]) -> Json {
    object([("size", Some(int(data.len() as u64))), ("crc32", Some(int(crc32(data))))])
}

/// The scheduler of a trace.
enum Choice {
    /// Returns what the events say, and nothing else (TRC-2).
    Script(VecDeque<u8>),
    Base(Box<Base>),
    Adaptive(Box<Adaptive>),
}

impl Scheduler for Choice {
    fn start(&mut self, now: Micros, chunk: ChunkSize) {
        match self {
            Choice::Script(_) => {}
            Choice::Base(base) => base.start(now, chunk),
            Choice::Adaptive(adaptive) => adaptive.start(now, chunk),
        }
    }

    fn newly_acked(&mut self, now: Micros, slices: &SliceSet) {
        match self {
            Choice::Script(_) => {}
            Choice::Base(base) => base.newly_acked(now, slices),
            Choice::Adaptive(adaptive) => adaptive.newly_acked(now, slices),
        }
    }

    fn hold(&mut self, now: Micros) {
        match self {
            Choice::Script(_) => {}
            Choice::Base(base) => base.hold(now),
            Choice::Adaptive(adaptive) => adaptive.hold(now),
        }
    }

    fn next(&mut self, now: Micros) -> Option<u8> {
        match self {
            Choice::Script(due) => due.pop_front(),
            Choice::Base(base) => base.next(now),
            Choice::Adaptive(adaptive) => adaptive.next(now),
        }
    }

    fn deadline(&self) -> Option<Micros> {
        match self {
            Choice::Script(_) => None,
            Choice::Base(base) => base.deadline(),
            Choice::Adaptive(adaptive) => adaptive.deadline(),
        }
    }
}
