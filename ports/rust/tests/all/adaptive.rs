use crate::{ack, bytes, MS, SECOND};
use chunkwire::{Adaptive, Config, Micros, OutOfRange, Recovery, Sender, SenderRow::*};

type Tx = Sender<Vec<u8>, Adaptive>;

/// A sender of a chunk of full slices, submitted at 0.
fn sender(recovery: Recovery, limit: u64, slices: usize) -> Tx {
    let mut s = Sender::new(Config::default(), Adaptive::new(recovery, limit).unwrap());
    s.submit(0, bytes(1024 * slices)).unwrap();
    s
}

/// Polls at each deadline up to `end`, and returns the slices that went out.
fn sent_until(s: &mut Tx, end: Micros) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(at) = s.deadline().filter(|&at| at <= end) {
        while let Some(slice) = s.poll(at).packet {
            all.push(slice.slice_id());
        }
    }
    all
}

#[test]
fn the_first_flight_has_16_slices() {
    let mut s = sender(Recovery::Adaptive, 0, 256);
    assert_eq!(sent_until(&mut s, 249 * MS), (0..16).collect::<Vec<_>>());
    assert_eq!(s.deadline(), Some(250 * MS));
    let mut burst = sender(Recovery::Burst, 0, 256);
    assert_eq!(sent_until(&mut burst, 249 * MS).len(), 256, "a burst does not ask what the path carries");
}

#[test]
fn a_limit_is_kept() {
    for recovery in [Recovery::Adaptive, Recovery::Redundant, Recovery::Burst, Recovery::Fixed] {
        let mut s = sender(recovery, 852_800, 256); // 10 ms a slice
        assert_eq!(sent_until(&mut s, 150 * MS).len(), 16, "{recovery:?}");
    }
    for (recovery, limit) in [(Recovery::Fixed, 0), (Recovery::Adaptive, 8527), (Recovery::Burst, 8_000_000_001)] {
        assert_eq!(Adaptive::new(recovery, limit).unwrap_err(), OutOfRange("limit"));
    }
}

#[test]
fn what_arrives_opens_the_limit() {
    let mut s = sender(Recovery::Adaptive, 0, 256);
    sent_until(&mut s, 49 * MS);
    let bits = |n: usize| "1".repeat(n) + &"0".repeat(256 - n);
    assert_eq!(s.ack(50 * MS, &ack(0, &bits(8))), S9);
    let more = sent_until(&mut s, 72 * MS);
    assert_eq!(more.len(), 24, "8 take the place of those that arrived, and 2 for each of them");
}

#[test]
fn a_lost_slice_is_seen_and_sent_first() {
    let mut s = sender(Recovery::Adaptive, 0, 40);
    sent_until(&mut s, 49 * MS);
    let bits = "1101111".to_owned() + &"0".repeat(33);
    s.ack(50 * MS, &ack(0, &bits));
    assert_eq!(sent_until(&mut s, 51 * MS)[0], 2);
}

#[test]
fn silence_draws_two_probes_at_longer_and_longer_intervals() {
    let mut s = sender(Recovery::Adaptive, 0, 8);
    assert_eq!(sent_until(&mut s, 249 * MS).len(), 8);
    let times: Vec<_> = (0..500)
        .map(|n| 10 * n + 5)
        .map(|ms| (ms, sent_until(&mut s, ms * MS).len()))
        .filter(|(_, n)| *n > 0)
        .collect();
    assert_eq!(times.iter().map(|(_, n)| n).sum::<usize>(), 2 * times.len());
    assert_eq!(times.iter().map(|(ms, _)| *ms).take(5).collect::<Vec<_>>(), [255, 505, 1005, 2005, 3005]);
}

#[test]
fn a_peer_that_holds_is_probed() {
    let mut s = sender(Recovery::Adaptive, 0, 8);
    sent_until(&mut s, 10 * MS);
    assert_eq!(s.ack(10 * MS, &ack(0, "00000000")), S8);
    assert_eq!(sent_until(&mut s, 259 * MS), []);
    assert_eq!(sent_until(&mut s, 300 * MS), [7]);
    assert_eq!(s.ack(310 * MS, &ack(0, "11111111")), S10);
}

#[test]
fn a_second_chunk_knows_the_path() {
    let mut s = sender(Recovery::Adaptive, 0, 16);
    sent_until(&mut s, 19 * MS);
    s.ack(20 * MS, &ack(0, &"1".repeat(16)));
    s.submit(SECOND, bytes(1)).unwrap();
    sent_until(&mut s, SECOND);
    let timer = s.deadline().unwrap() - SECOND;
    assert!((25 * MS..50 * MS).contains(&timer), "{timer} us");
}
