use crate::{ack, slice, MS, SECOND};
use chunkwire::{Ack, Config, NothingToRead, NumSlices, Receiver, ReceiverRow, ReceiverRow::*, ReceiverState, Slice};

type Rx = Receiver<Vec<u8>>;

fn receiver() -> Rx {
    Receiver::new(Config::default(), vec![0; chunkwire::MAX_CHUNK])
}

/// All acks that go out at a time, and the row that was taken then.
fn polled(r: &mut Rx, now: i64) -> (Vec<Ack>, ReceiverRow) {
    let mut acks = Vec::new();
    loop {
        let polled = r.poll(now);
        match polled.packet {
            Some(ack) => acks.push(ack),
            None => return (acks, polled.row),
        }
    }
}

#[test]
fn a_chunk_arrives_in_any_order() {
    let mut r = receiver();
    let last = Slice::new(0, 2, NumSlices::new(3).unwrap(), &[9]).unwrap();
    assert_eq!(r.slice(0, &last), Some(R2));
    assert_eq!(r.slice(0, &slice(0, 0, 3)), Some(R5));
    assert_eq!(r.received().unwrap().1.iter().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(r.read(0), Err(NothingToRead(R18)));
    assert_eq!(r.slice(0, &slice(0, 1, 3)), Some(R6));
    assert_eq!(polled(&mut r, 0), (vec![ack(0, "111")], R25));
    let chunk = r.read(0).unwrap().to_vec();
    assert_eq!((chunk.len(), chunk[2047], chunk[2048]), (2049, 7, 9));
    assert_eq!(r.read(0), Err(NothingToRead(R17)), "a chunk is delivered once");
}

/// The first mistake of hand-written ports: the ack of a slice is lost, and the sender resends
/// that slice without end.
#[test]
fn a_duplicate_is_acked_again() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 2));
    assert_eq!(polled(&mut r, 0), (vec![ack(0, "10")], R22));
    assert_eq!(r.slice(250 * MS, &slice(0, 0, 2)), Some(R7));
    assert_eq!(polled(&mut r, 250 * MS), (vec![ack(0, "10")], R22));
}

/// The second: the last ack is lost, and the sender never learns that all has arrived.
#[test]
fn a_slice_of_the_chunk_before_is_acked_in_every_state() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 2));
    r.slice(0, &slice(0, 1, 2));
    polled(&mut r, 0);
    let again = |r: &mut Rx, now, row| {
        assert_eq!(r.slice(now, &slice(0, 1, 2)), Some(row));
        assert_eq!(polled(r, now).0, [ack(0, "11")], "{row:?}");
    };
    again(&mut r, 10 * MS, R14); // it waits to be read
    r.read(20 * MS).unwrap();
    again(&mut r, 20 * MS, R3);
    r.slice(30 * MS, &slice(1, 0, 2));
    polled(&mut r, 30 * MS);
    again(&mut r, 40 * MS, R11);
    assert_eq!(r.slice(50 * MS, &slice(0, 0, 3)), Some(R12), "another number of slices is another chunk");
    assert_eq!(polled(&mut r, 50 * MS).0, []);
}

/// The third: a slow reader looks like one that is gone.
#[test]
fn a_slice_that_comes_too_early_is_held() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 1));
    polled(&mut r, 0);
    assert_eq!(r.slice(10 * MS, &slice(1, 3, 5)), Some(R13));
    assert_eq!(polled(&mut r, 10 * MS), (vec![ack(1, "00000")], R25));
    r.read(20 * MS).unwrap();
    assert_eq!(r.slice(20 * MS, &slice(1, 3, 5)), Some(R2), "what was held was not stored");
    assert_eq!(polled(&mut r, 20 * MS).0, [ack(1, "00010")]);
}

#[test]
fn what_was_of_a_chunk_does_not_stay() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 2));
    r.slice(0, &slice(0, 1, 2));
    polled(&mut r, 0);
    r.read(0).unwrap();
    r.slice(10 * MS, &slice(1, 1, 2));
    assert_eq!(polled(&mut r, 10 * MS).0, [ack(1, "01")], "the bits of chunk 0 are gone");
}

#[test]
fn before_the_first_chunk_there_is_no_previous_one() {
    let mut r = receiver();
    assert_eq!(r.slice(0, &slice(65535, 0, 1)), Some(R4));
    assert_eq!(r.slice(0, &slice(1, 0, 1)), Some(R4));
    assert_eq!((polled(&mut r, 0), r.deadline()), ((vec![], R20), None));
}

#[test]
fn ids_wrap() {
    let mut r = Receiver::new(Config::new(65535, SECOND).unwrap(), vec![0; 1024]);
    r.slice(0, &slice(65535, 0, 1));
    assert_eq!((r.state(), r.chunk_id()), (ReceiverState::Ready, 0));
    assert_eq!(polled(&mut r, 0).0, [ack(65535, "1")]);
    r.read(0).unwrap();
    assert_eq!(r.slice(0, &slice(0, 0, 1)), Some(R1));
}

#[test]
fn a_wrong_number_of_slices_is_replaced_after_half_the_time() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 9));
    assert_eq!(r.slice(5 * SECOND - 1, &slice(0, 0, 2)), Some(R8));
    assert_eq!((r.conflicts(), polled(&mut r, 5 * SECOND - 1).0.len()), (1, 1), "the ack of slice 0 alone");
    assert_eq!(r.slice(5 * SECOND, &slice(0, 1, 2)), Some(R9));
    assert_eq!(polled(&mut r, 5 * SECOND).0, [ack(0, "01")]);
    assert_eq!(r.slice(10 * SECOND, &slice(0, 0, 1)), Some(R10));
    assert_eq!(r.read(10 * SECOND).unwrap().len(), 1024);
}

#[test]
fn a_receiver_gives_up_without_new_slices() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 2));
    polled(&mut r, 0);
    r.slice(9 * SECOND, &slice(0, 0, 2)); // a duplicate is no progress
    assert_eq!(polled(&mut r, 9 * SECOND), (vec![ack(0, "10")], R22));
    assert_eq!(r.deadline(), Some(10 * SECOND));
    assert_eq!(polled(&mut r, 10 * SECOND), (vec![], R23));
    assert_eq!((r.state(), r.deadline()), (ReceiverState::Failed, None));
    assert_eq!(r.slice(10 * SECOND, &slice(0, 1, 2)), Some(R26));
    assert_eq!(r.read(10 * SECOND), Err(NothingToRead(R27)));
    assert_eq!(polled(&mut r, 10 * SECOND), (vec![], R28));
}

#[test]
fn a_chunk_larger_than_the_memory_never_arrives() {
    let mut r = Receiver::new(Config::default(), [0; 2000]);
    assert_eq!(r.slice(0, &slice(0, 0, 3)), None);
    assert_eq!(r.slice(0, &slice(0, 1, 2)), None, "its last slice is too long");
    assert_eq!((r.state(), r.deadline()), (ReceiverState::Waiting, None));
    assert_eq!(r.slice(0, &slice(0, 0, 2)), Some(R2));
    assert_eq!(r.slice(0, &Slice::new(0, 1, NumSlices::new(2).unwrap(), &[1; 976]).unwrap()), Some(R6));
    assert_eq!(r.read(0).unwrap().len(), 2000);
}

#[test]
fn acks_that_are_not_urgent_wait_2_ms() {
    let mut r = receiver();
    r.slice(0, &slice(0, 0, 256));
    assert_eq!(polled(&mut r, 0).0.len(), 1, "no ack ever went out");
    r.slice(MS, &slice(0, 1, 256));
    assert_eq!((polled(&mut r, MS).0.len(), r.deadline()), (0, Some(2 * MS)));
    assert_eq!(polled(&mut r, 2 * MS).0.len(), 1);
    (2..17).for_each(|k| assert_eq!(r.slice(3 * MS, &slice(0, k, 256)), Some(R5)));
    assert_eq!(polled(&mut r, 3 * MS).0.len(), 0, "15 are new");
    r.slice(3 * MS, &slice(0, 17, 256));
    assert_eq!(polled(&mut r, 3 * MS).0.len(), 1, "16 are new");
    for (k, now, acks) in [(19, 3500, 1), (20, 3600, 1), (21, 3700, 0)] {
        r.slice(now, &slice(0, k, 256)); // a gap, and the first behind it
        assert_eq!(polled(&mut r, now).0.len(), acks, "slice {k}");
    }
}

#[test]
fn time_does_not_go_back() {
    let mut r = receiver();
    r.slice(SECOND, &slice(0, 0, 2));
    assert_eq!(r.slice(0, &slice(0, 1, 2)), Some(R6));
    assert_eq!(r.deadline(), Some(SECOND));
    r.read(i64::MAX).unwrap(); // as the last time there is
    assert_eq!(r.slice(i64::MIN, &slice(1, 0, 2)), Some(R2));
    assert_eq!(polled(&mut r, i64::MAX).1, R22);
}
