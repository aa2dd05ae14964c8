//! A program without std and alloc, for which `ci` makes object code alone: a driver's two ends in
//! one loop, over machines in static memory. That it compiles shows that the library needs
//! neither; a panic handler of its own would be the second one if std were linked.
//! `ci` also looks into the object code: nothing in it may call a function that panics.

#![no_std]
#![no_main]

use chunkwire::{
    decode_packet, decode_repair_packet, encode_packet, encode_repair_packet, Adaptive, Base, Config, Packet, Profile,
    Rateless, Receiver, Recovery, RepairPacket, RepairReceiver, RepairSender, Scheduler, Sender,
};
use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

type Tx<'a> = Sender<&'a [u8], Adaptive>;
type TxBase<'a> = Sender<&'a [u8], Base>;
type Rx<'a> = Receiver<&'a mut [u8]>;

/// A sender in IDLE, `None` if a figure is outside its limits.
#[no_mangle]
pub fn begin<'a>(give_up: i64, limit: u64) -> Option<Tx<'a>> {
    Some(Sender::new(Config::new(0, give_up).ok()?, Adaptive::new(Recovery::Adaptive, limit).ok()?))
}

/// The same with the base algorithm.
#[no_mangle]
pub fn begin_base<'a>(give_up: i64, profile: Profile) -> Option<TxBase<'a>> {
    Some(Sender::new(Config::new(0, give_up).ok()?, Base::new(profile).ok()?))
}

/// Takes a chunk.
#[no_mangle]
pub fn submit<'a>(tx: &mut Tx<'a>, now: i64, chunk: &'a [u8]) -> bool {
    tx.submit(now, chunk).is_ok()
}

/// The same.
#[no_mangle]
pub fn submit_base<'a>(tx: &mut TxBase<'a>, now: i64, chunk: &'a [u8]) -> bool {
    tx.submit(now, chunk).is_ok()
}

/// What is beside the chunks.
#[no_mangle]
pub fn path(tx: &mut Tx<'_>, marks: u16, yields: bool) {
    tx.scheduler().marks(marks);
    tx.scheduler().yields(yields);
}

/// Whatever arrives at a sender, and what it sends.
#[no_mangle]
pub fn send(tx: &mut Tx<'_>, now: i64, id: u32, arrived: &[u8], out: fn(&[u8])) -> Option<i64> {
    answer(tx, now, id, arrived, out)
}

/// The same.
#[no_mangle]
pub fn send_base(tx: &mut TxBase<'_>, now: i64, id: u32, arrived: &[u8], out: fn(&[u8])) -> Option<i64> {
    answer(tx, now, id, arrived, out)
}

fn answer<S: Scheduler>(tx: &mut Sender<&[u8], S>, now: i64, id: u32, arrived: &[u8], out: fn(&[u8])) -> Option<i64> {
    if let Ok(Packet::Ack(ack)) = decode_packet(id, arrived) {
        tx.ack(now, &ack);
    }
    while let Some(slice) = tx.poll(now).packet {
        out(&encode_packet(id, &slice.into()));
    }
    tx.deadline()
}

/// The same with repair slices.
#[no_mangle]
pub fn send_repair<'a>(
    tx: &mut RepairSender<&'a [u8], Rateless>,
    now: i64,
    id: u32,
    chunk: &'a [u8],
    arrived: &[u8],
    out: fn(&[u8]),
) -> Option<i64> {
    tx.submit(now, chunk).ok();
    if let Ok(RepairPacket::Ack(ack)) = decode_repair_packet(id, arrived) {
        tx.ack(now, &ack);
    }
    while let Some(slice) = tx.poll(now).packet {
        out(&encode_repair_packet(id, &slice.into()));
    }
    tx.deadline()
}

/// The same with repair slices.
#[no_mangle]
pub fn receive_repair(
    rx: &mut RepairReceiver<&mut [u8]>,
    now: i64,
    id: u32,
    arrived: &[u8],
    out: fn(&[u8]),
) -> Option<i64> {
    if let Ok(RepairPacket::Slice(slice)) = decode_repair_packet(id, arrived) {
        rx.slice(now, &slice);
    }
    while let Some(ack) = rx.poll(now).packet {
        out(&encode_repair_packet(id, &ack.into()));
    }
    rx.read(now).map(out).ok();
    rx.deadline()
}

/// Whatever arrives at a receiver, and what it answers.
#[no_mangle]
pub fn receive(rx: &mut Rx<'_>, now: i64, id: u32, arrived: &[u8], out: fn(&[u8])) -> Option<i64> {
    if let Ok(Packet::Slice(slice)) = decode_packet(id, arrived) {
        rx.slice(now, &slice);
    }
    while let Some(ack) = rx.poll(now).packet {
        out(&encode_packet(id, &ack.into()));
    }
    rx.read(now).map(out).ok();
    rx.deadline()
}
