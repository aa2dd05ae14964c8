//! A sender and a receiver in one program, over a path that loses every fifth datagram, in virtual
//! time: `cargo run --example conversation`. `src/bin/chunkwire-live.rs` is the same over UDP.

use chunkwire::*;

const PROTOCOL_ID: u32 = 1;

fn main() {
    let chunk: Vec<u8> = (0..100_000_u32).map(|i| i as u8).collect();
    let profile = Base::new(Profile::BURST).expect("its figures are within their limits");
    let mut sender = Sender::new(Config::default(), profile);
    let mut receiver = Receiver::new(Config::default(), vec![0; MAX_CHUNK]);
    let (mut now, mut sent) = (0, 0_u32);
    sender.submit(now, &chunk[..]).expect("its size is valid");
    while sender.state() == SenderState::Sending {
        while let Some(slice) = sender.poll(now).packet {
            sent += 1;
            let datagram = encode_packet(PROTOCOL_ID, &slice.into());
            if sent % 5 == 0 {
                continue; // lost
            }
            if let Ok(Packet::Slice(slice)) = decode_packet(PROTOCOL_ID, &datagram) {
                receiver.slice(now, &slice);
            }
        }
        while let Some(ack) = receiver.poll(now).packet {
            sender.ack(now, &ack);
        }
        let next = sender.deadline().into_iter().chain(receiver.deadline()).min();
        now = next.map_or(now, |next| next.max(now));
    }
    let received = receiver.read(now).expect("the sender knows that it is complete");
    assert!(received == chunk);
    println!(
        "{} bytes in {} us: {} slices were sent for {}",
        received.len(),
        now,
        sent,
        chunk.len().div_euclid(1024) + 1
    );
}
