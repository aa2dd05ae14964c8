//! Repair slices: code, packets and machines together.

use chunkwire::*;

fn chunk(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 7 + i / 256) as u8).collect()
}

#[test]
fn any_slices_will_do() {
    for size in [1, 1024, 1025, 5000, 20 * 1024 + 3] {
        let sent = chunk(size);
        let n = ChunkSize::new(size).unwrap().num_slices();
        for lost in 0..3 {
            let mut receiver = RepairReceiver::new(Config::default(), vec![0xaa; repair_memory(n)]);
            let mut sender = RepairSender::new(Config::default(), Rateless::new(Recovery::Burst, 0).unwrap());
            sender.submit(0, &sent[..]).unwrap();
            let (mut now, mut number) = (0, 0);
            while receiver.state() != ReceiverState::Ready {
                now += 1000;
                assert!(now < 1_000_000, "{size} bytes, {lost} of 3 lost");
                if let Some(slice) = sender.poll(now).packet {
                    number += 1;
                    if number % 3 >= lost {
                        let datagram = encode_repair_packet(7, &slice.into());
                        let packet = decode_repair_packet(7, &datagram).unwrap();
                        match packet {
                            RepairPacket::Slice(slice) => assert!(receiver.slice(now, &slice).is_some()),
                            RepairPacket::Ack(_) => unreachable!(),
                        }
                    }
                }
                while let Some(ack) = receiver.poll(now).packet {
                    sender.ack(now, &ack);
                }
            }
            while let Some(ack) = receiver.poll(now).packet {
                sender.ack(now, &ack);
            }
            assert_eq!(sender.state(), SenderState::Idle);
            assert_eq!(receiver.read(now), Ok(&sent[..]));
            assert_eq!(receiver.inconsistent(), 0);
        }
    }
}

#[test]
fn a_forged_slice_is_noticed() {
    let sent = chunk(2048);
    let size = ChunkSize::new(2048).unwrap();
    let mut data = [0; SLICE_SIZE];
    let mut receiver = RepairReceiver::new(Config::default(), vec![0; repair_memory(size.num_slices())]);
    for id in [0, 2, 3] {
        let len = repair_slice_of(&sent, id, &mut data).unwrap();
        data[0] ^= u8::from(id == 2);
        receiver.slice(0, &RepairSlice::new(0, id, size, &data[..len]).unwrap());
    }
    assert_eq!(receiver.inconsistent(), 1); // the third is compared with the rebuilt slice
}

#[test]
fn without_memory_nothing_arrives() {
    let size = ChunkSize::new(1025).unwrap();
    let mut receiver = RepairReceiver::new(Config::default(), vec![0; repair_memory(size.num_slices()) - 1]);
    assert_eq!(receiver.slice(0, &RepairSlice::new(0, 0, size, &[0; SLICE_SIZE]).unwrap()), None);
    assert_eq!((receiver.state(), receiver.deadline()), (ReceiverState::Waiting, None));
}

#[test]
fn what_cannot_be_encoded_cannot_be_made() {
    let size = ChunkSize::new(1025).unwrap();
    assert!(RepairSlice::new(0, MAX_IDS, size, &[0; SLICE_SIZE]).is_err());
    assert!(RepairSlice::new(0, 1, size, &[0; SLICE_SIZE]).is_err());
    assert!(RepairAck::new(0, size.num_slices(), 3, 0).is_err());
    assert!(RepairAck::new(0, size.num_slices(), 2, MAX_IDS).is_err());
    assert_eq!(decode_repair_body(Kind::Ack, &[0, 0, 0, 3, 0, 0]).unwrap_err().code(), Code::HaveOutOfRange);
}
