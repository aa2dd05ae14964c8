use crate::{ack, bytes, MS, SECOND};
use chunkwire::{Base, Config, Micros, OutOfRange, Profile, Sender, SenderRow::*};

type Tx = Sender<Vec<u8>, Base>;

const FREE: Profile = Profile { rate: 0, cap: 1066, burst: 0, acks_pay: false, spacing: 0, resend_delay: 0 };

/// A sender of a chunk of full slices, submitted at 0.
fn sender(profile: Profile, slices: usize) -> Tx {
    let mut s = Sender::new(Config::default(), Base::new(profile).unwrap());
    s.submit(0, bytes(1024 * slices)).unwrap();
    s
}

/// The slices that go out at a time.
fn sent(s: &mut Tx, now: Micros) -> Vec<u8> {
    std::iter::from_fn(|| s.poll(now).packet.map(|slice| slice.slice_id())).collect()
}

/// Polls at each deadline up to `end`, and returns what went out when.
fn sent_until(s: &mut Tx, end: Micros) -> Vec<(Micros, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(at) = s.deadline().filter(|&at| at <= end) {
        all.push((at, sent(s, at)));
    }
    all
}

#[test]
fn a_burst_is_spaced() {
    let mut s = sender(Profile::BURST, 4);
    assert_eq!(sent(&mut s, 0), [0]);
    assert_eq!((sent(&mut s, 84), s.deadline()), (vec![], Some(85)));
    assert_eq!(sent(&mut s, 10 * MS), [1, 2, 3], "a late driver makes up for it");
}

#[test]
fn a_rate_is_kept() {
    let mut s = sender(Profile::fixed(106_500), 256); // 100 slices a second, 20 in the budget at first
    let at_once = sent(&mut s, 0).len();
    assert_eq!(at_once, 16);
    let more = sent_until(&mut s, 200 * MS);
    assert!(more.iter().all(|(_, slices)| slices.len() == 1));
    assert_eq!(more.len(), 20, "{more:?}");
}

#[test]
fn what_arrives_pays_for_more() {
    let mut s = sender(Profile { cap: 2132, burst: 2132, rate: 1066, acks_pay: true, ..FREE }, 8);
    assert_eq!(sent(&mut s, 0), [0, 1]);
    assert_eq!(s.ack(MS, &ack(0, "11000000")), S9);
    assert_eq!(sent(&mut s, MS), [2, 3]);
    let mut without = sender(Profile { cap: 2132, burst: 2132, rate: 1066, ..FREE }, 8);
    sent(&mut without, 0);
    without.ack(MS, &ack(0, "11000000"));
    assert_eq!(sent(&mut without, MS), []);
}

#[test]
fn two_later_arrivals_show_a_loss() {
    let mut s = sender(FREE, 5);
    assert_eq!(sent(&mut s, 0), [0, 1, 2, 3, 4]);
    s.ack(50 * MS, &ack(0, "01000"));
    assert_eq!(sent(&mut s, 50 * MS), [], "one later arrival is none");
    s.ack(51 * MS, &ack(0, "01100"));
    assert_eq!(sent(&mut s, 51 * MS), [0]);
    assert_eq!(sent(&mut s, 52 * MS), [], "it is resent once");
}

#[test]
fn the_timer_resends_the_end_and_backs_off() {
    let mut s = sender(FREE, 8);
    sent(&mut s, 0);
    let probes = sent_until(&mut s, 900 * MS);
    let expected = [(250, vec![6, 7]), (500, vec![2, 3, 4, 5]), (750, vec![6, 7, 0, 1, 2, 3, 4, 5])];
    assert_eq!(probes, expected.map(|(at, slices)| (at * MS, slices)));
}

#[test]
fn the_timer_follows_the_round_trip() {
    let mut s = sender(FREE, 4);
    sent(&mut s, 0);
    s.ack(40 * MS, &ack(0, "1000"));
    assert_eq!(s.deadline(), Some(60 * MS), "40 ms, and the larger of 5 ms, an eighth and 4 variations of an eighth");
    assert_eq!(sent(&mut s, 60 * MS), [2, 3]);
    s.ack(61 * MS, &ack(0, "1010"));
    assert_eq!(s.acked().unwrap().1.len(), 2);
    assert_eq!(s.deadline(), Some(120 * MS), "a sample below the shortest round trip does not count");
}

#[test]
fn a_fixed_delay_stays() {
    let mut s = sender(Profile::article(0), 1);
    sent(&mut s, 0);
    assert_eq!(s.deadline(), Some(100 * MS));
}

#[test]
fn a_peer_that_holds_is_probed_with_one_slice() {
    let mut s = sender(FREE, 8);
    sent(&mut s, 0);
    assert_eq!(s.ack(10 * MS, &ack(0, "00000000")), S8);
    assert_eq!(sent_until(&mut s, 600 * MS), [(260 * MS, vec![7]), (510 * MS, vec![6])]);
    let mut s = sender(Profile { spacing: MS, ..FREE }, 8);
    assert_eq!(sent(&mut s, 0), [0]);
    s.ack(500, &ack(0, "00000000"));
    assert_eq!(sent(&mut s, 100 * MS), [], "nothing new goes to a peer that holds");
    s.ack(110 * MS, &ack(0, "10000000"));
    assert_eq!(sent(&mut s, 110 * MS), [1], "all else is due when it takes slices");
}

#[test]
fn a_probe_of_a_free_peer_comes_soon() {
    let mut s = sender(FREE, 1);
    sent(&mut s, 0);
    assert_eq!(s.ack(4 * MS, &ack(0, "1")), S10); // measured: 4 ms
    s.submit(5 * MS, bytes(1)).unwrap();
    sent(&mut s, 5 * MS);
    s.ack(9 * MS, &ack(1, "0"));
    let times: Vec<_> = sent_until(&mut s, 40 * MS).iter().map(|(at, _)| at / MS).collect();
    assert_eq!(times, [13, 17, 21, 25, 29, 34]);
}

#[test]
fn an_estimate_survives_a_chunk_and_a_bound_begins_one() {
    let mut s = sender(FREE, 1);
    sent(&mut s, 0);
    assert_eq!(sent(&mut s, 250 * MS), [0]);
    assert_eq!(s.ack(300 * MS, &ack(0, "1")), S10);
    s.submit(SECOND, bytes(1)).unwrap();
    sent(&mut s, SECOND);
    assert_eq!(
        s.deadline(),
        Some(SECOND + 300 * MS + 4 * 18_750),
        "which of the two arrived is not known: 300 ms at most"
    );
}

/// The vectors do not see this one: with numbers of the chunk before, slices count as sent.
#[test]
fn what_a_hold_kept_back_goes_out_in_the_second_chunk_too() {
    let mut s = sender(Profile { spacing: MS, ..FREE }, 3);
    assert_eq!(sent_until(&mut s, 3 * MS).len(), 3);
    assert_eq!(s.ack(4 * MS, &ack(0, "111")), S10);
    s.submit(5 * MS, bytes(3072)).unwrap();
    assert_eq!(sent(&mut s, 5 * MS), [0]);
    s.ack(5 * MS, &ack(1, "000"));
    s.ack(9 * MS, &ack(1, "100"));
    assert_eq!(sent_until(&mut s, 11 * MS), [(9 * MS, vec![1]), (10 * MS, vec![2])]);
}

#[test]
fn figures_outside_their_limits_are_refused() {
    for (name, profile) in [
        ("rate", Profile { rate: 1065, ..FREE }),
        ("rate", Profile { rate: 1_000_000_001, ..FREE }),
        ("cap", Profile { cap: 1065, ..FREE }),
        ("cap", Profile { cap: 1_000_000_001, ..FREE }),
        ("burst", Profile { burst: 1067, ..FREE }),
        ("spacing", Profile { spacing: -1, ..FREE }),
        ("resend_delay", Profile { resend_delay: i64::MAX, ..FREE }),
    ] {
        assert_eq!(Base::new(profile).unwrap_err(), OutOfRange(name));
    }
    assert_eq!(Config::new(0, 0), Err(OutOfRange("give_up")));
    assert!(Config::new(0, 1 << 61).is_ok() && Config::new(0, (1 << 61) + 1).is_err());
    let (fixed, burst) = (Profile::fixed(1_000_000), Profile::BURST);
    assert_eq!((fixed.cap, burst.cap, burst.burst), (20_000, 272_896, 272_896));
}
