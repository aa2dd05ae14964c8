use crate::{ack, bytes, MS, SECOND};
use chunkwire::{
    ChunkSize, Config, Micros, Scheduler, Sender, SenderRow::*, SenderState, SliceSet, SubmitError, MAX_CHUNK,
};

/// Sends what a test wants, and records what it is told.
#[derive(Default)]
struct Script {
    due: Vec<u8>,
    told: Vec<String>,
}

impl Scheduler for Script {
    fn start(&mut self, _: Micros, chunk: ChunkSize) {
        self.told.push(format!("start {}", chunk.bytes()));
    }
    fn newly_acked(&mut self, _: Micros, slices: &SliceSet) {
        self.told.push(format!("acked {:?}", slices.iter().collect::<Vec<_>>()));
    }
    fn hold(&mut self, _: Micros) {
        self.told.push("hold".into());
    }
    fn next(&mut self, _: Micros) -> Option<u8> {
        self.due.pop()
    }
    fn deadline(&self) -> Option<Micros> {
        None
    }
}

fn sender(give_up: Micros) -> Sender<Vec<u8>, Script> {
    Sender::new(Config::new(65535, give_up).unwrap(), Script::default())
}

fn send(s: &mut Sender<Vec<u8>, Script>, now: Micros, slices: &[u8]) {
    s.scheduler().due = slices.iter().rev().copied().collect();
    for k in slices {
        assert_eq!(s.poll(now).packet.unwrap().slice_id(), *k);
    }
    assert_eq!(s.poll(now).row, S14);
}

#[test]
fn a_chunk_is_cut_sent_and_acked() {
    let mut s = sender(10 * SECOND);
    assert_eq!(s.ack(0, &ack(65535, "111")), S5);
    assert_eq!(s.poll(0).row, S12);
    s.submit(0, bytes(3000)).unwrap();
    s.scheduler().due = vec![2, 0];
    let first = s.poll(0).packet.unwrap();
    assert_eq!((first.chunk_id(), first.num_slices().get(), first.data()), (65535, 3, &bytes(3000)[..1024]));
    let last = s.poll(0).packet.unwrap();
    assert_eq!((last.slice_id(), last.data()), (2, &bytes(3000)[2048..]));
    assert_eq!(s.ack(MS, &ack(65535, "100")), S9);
    send(&mut s, MS, &[1]);
    assert_eq!(s.ack(2 * MS, &ack(65535, "111")), S10);
    assert_eq!((s.state(), s.chunk_id(), s.deadline()), (SenderState::Idle, 0, None));
    assert_eq!(s.scheduler().told, ["start 3000", "acked [0]", "acked [1, 2]"]);
}

#[test]
fn chunks_that_are_refused_come_back() {
    let mut s = sender(10 * SECOND);
    assert_eq!(s.submit(0, vec![]), Err(SubmitError::ChunkSize(vec![])));
    assert!(matches!(s.submit(0, bytes(MAX_CHUNK + 1)), Err(SubmitError::ChunkSize(_))));
    s.submit(0, bytes(MAX_CHUNK)).unwrap();
    assert_eq!(s.submit(0, vec![1]), Err(SubmitError::Busy(vec![1])));
    assert_eq!(s.poll(10 * SECOND).row, S15);
    assert_eq!(s.submit(0, vec![1]), Err(SubmitError::GaveUp(vec![1])));
    assert_eq!((s.poll(0).row, s.ack(0, &ack(65535, "1"))), (S16, S11));
}

#[test]
fn an_ack_of_what_was_not_sent_is_nothing() {
    let mut s = sender(10 * SECOND);
    s.submit(0, bytes(2048)).unwrap();
    assert_eq!(s.ack(0, &ack(65535, "11")), S7);
    send(&mut s, 0, &[0]);
    assert_eq!(s.ack(0, &ack(65535, "11")), S9, "slice 1 was never sent");
    assert_eq!(s.acked().unwrap().1.iter().collect::<Vec<_>>(), [0]);
    assert_eq!(s.ack(0, &ack(65535, "01")), S7, "an old ack takes nothing back");
    assert_eq!(s.ack(0, &ack(65535, "00")), S7, "nor is it a hold");
}

#[test]
fn foreign_acks_change_nothing() {
    let mut s = sender(10 * SECOND);
    s.submit(0, bytes(2048)).unwrap();
    send(&mut s, 0, &[0, 1]);
    assert_eq!(s.ack(SECOND, &ack(0, "11")), S6);
    assert_eq!(s.ack(SECOND, &ack(65535, "111")), S6);
    assert_eq!(s.deadline(), Some(10 * SECOND));
}

#[test]
fn a_hold_is_a_sign_of_life() {
    let mut s = sender(10 * SECOND);
    s.submit(0, bytes(1)).unwrap();
    send(&mut s, 0, &[0]);
    assert_eq!(s.ack(9 * SECOND, &ack(65535, "0")), S8);
    assert_eq!((s.poll(10 * SECOND).row, s.deadline()), (S14, Some(19 * SECOND)));
    assert_eq!(s.scheduler().told, ["start 1", "hold"]);
    assert_eq!(s.poll(19 * SECOND).row, S15);
}

#[test]
fn what_is_old_does_not_stay() {
    let mut s = sender(SECOND);
    for id in [65535, 0] {
        s.submit(0, bytes(2048)).unwrap();
        assert_eq!(s.acked().unwrap().1, SliceSet::EMPTY);
        assert_eq!(s.ack(0, &ack(id, "11")), S7, "of chunk {id} nothing was sent");
        send(&mut s, 0, &[0, 1]);
        assert_eq!(s.ack(0, &ack(id, "11")), S10);
    }
}

#[test]
fn a_scheduler_that_returns_what_is_not_there_sends_nothing() {
    let mut s = sender(SECOND);
    s.submit(0, bytes(2048)).unwrap();
    s.scheduler().due = vec![2];
    assert_eq!(s.poll(0).row, S14);
}
