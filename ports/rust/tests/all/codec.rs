use crate::{ack, num, slice, Random};
use chunkwire::*;

const ID: u32 = 0x1122_3344;

fn hex(b: &[u8]) -> String {
    b.iter().map(|b| format!("{b:02x}")).collect()
}

/// Makes the crc right again.
fn seal(datagram: &mut [u8]) {
    let protected = [&ID.to_le_bytes()[..], &[0; 4], &datagram[4..]].concat();
    datagram[..4].copy_from_slice(&crc32(&protected).to_le_bytes());
}

/// A datagram with bits flipped, and with a right crc.
fn flipped(packet: &Packet<'_>, bits: &[usize]) -> Vec<u8> {
    let mut datagram = encode_packet(ID, packet).to_vec();
    bits.iter().for_each(|bit| datagram[bit / 8] ^= 1 << (bit % 8));
    seal(&mut datagram);
    datagram
}

#[test]
fn the_examples_of_section_6_4() {
    let slice = Packet::from(Slice::new(1, 2, num(3), &[1, 2, 3, 4, 5]).unwrap());
    let ack = Packet::from(ack(0x1234, "101010101"));
    assert_eq!(hex(&encode_body(&slice)), "0100020204000102030405");
    assert_eq!(hex(&encode_packet(ID, &slice)), "4414a8920200040408000102030405e2ac0899");
    assert_eq!(hex(&encode_body(&ack)), "3412085501");
    assert_eq!(hex(&encode_packet(ID, &ack)), "a83af421692410aa02e2ac0899");
    for packet in [slice, ack] {
        assert_eq!(decode_body(packet.kind(), &encode_body(&packet)), Ok(packet));
        assert_eq!(decode_packet(ID, &encode_packet(ID, &packet)), Ok(packet));
    }
}

#[test]
fn the_largest_of_each() {
    assert_eq!(encode_packet(ID, &slice(65535, 255, 256).into()).len(), MAX_DATAGRAM);
    assert_eq!(encode_packet(ID, &ack(65535, &"1".repeat(256)).into()).len(), MAX_ACK);
}

#[test]
fn what_cannot_be_encoded_cannot_be_made() {
    assert_eq!((NumSlices::new(0), NumSlices::new(257)), (None, None));
    assert_eq!(Slice::new(0, 2, num(2), &[1]), Err(InvalidField("slice_id")));
    for (k, size) in [(0, 0), (0, 1), (0, 1023), (0, 1025), (1, 0), (1, 1025)] {
        assert_eq!(Slice::new(0, k, num(2), &vec![0; size]), Err(InvalidField("data")), "{k} {size}");
    }
    assert_eq!(Ack::new(0, num(9), SliceSet::all(num(10))), Err(InvalidField("acked")));
}

/// A datagram that ends after some bytes, with a right crc.
fn cut(packet: &Packet<'_>, length: usize) -> Vec<u8> {
    let mut datagram = encode_packet(ID, packet)[..length].to_vec();
    seal(&mut datagram);
    datagram
}

#[test]
fn every_refusal_has_its_check_and_its_place() {
    let whole = slice(1, 0, 2).into();
    let last = Slice::new(1, 1, num(2), &[9]).unwrap().into();
    let nine = ack(1, "111111111").into();
    let longer = |packet: &Packet<'_>| {
        let mut datagram = [&encode_packet(ID, packet)[..], &[0]].concat();
        seal(&mut datagram);
        datagram
    };
    let crc_of_another = encode_packet(ID + 1, &whole).to_vec();
    for (datagram, check, place) in [
        (vec![], Check::Dec1, 0),
        (vec![0; 3], Check::Dec1, 0),
        (crc_of_another, Check::Dec2, 0),
        (cut(&whole, 4), Check::Dec3, 32),
        (cut(&whole, 6), Check::Dec4, 33),
        (cut(&whole, 7), Check::Dec5, 49),
        (cut(&whole, 8), Check::Dec6, 57),
        (cut(&nine, 7), Check::Dec6, 49),
        (flipped(&whole, &[50]), Check::Dec7, 49), // slice 2 of 2
        (cut(&last, 9), Check::Dec8, 65),
        (cut(&nine, 8), Check::Dec9, 57),
        (flipped(&whole, &[65]), Check::Dec10, 65),
        (flipped(&whole, &[71]), Check::Dec10, 65),
        (flipped(&last, &[79]), Check::Dec10, 75),
        (flipped(&nine, &[66]), Check::Dec10, 66),
        (cut(&whole, 1032), Check::Dec11, 72),
        (cut(&last, 10), Check::Dec11, 80),
        (cut(&last, 14), Check::Dec12, 88),
        (flipped(&last, &[119]), Check::Dec13, 88),
        (longer(&last), Check::Dec14, 120),
        (longer(&nine), Check::Dec14, 104),
    ] {
        let error = decode_packet(ID, &datagram).unwrap_err();
        assert_eq!((error.check, error.place), (check, place), "{}", hex(&datagram));
    }
    let error = decode_packet(ID, &flipped(&nine, &[66])).unwrap_err();
    assert_eq!((error.code().name(), error.sentence()), ("nonzero_padding", "DEC-10"));
}

#[test]
fn places_in_a_body_count_from_its_first_bit() {
    let body = encode_body(&ack(1, "111111111").into());
    for (length, check, place) in [(1, Check::Dec4, 0), (2, Check::Dec6, 16), (4, Check::Dec9, 24)] {
        assert_eq!(decode_body(Kind::Ack, &body[..length]), Err(DecodeError { check, place }));
    }
    assert_eq!(
        decode_body(Kind::Ack, &[&body[..], &[0]].concat()),
        Err(DecodeError { check: Check::Dec14, place: 40 })
    );
}

/// LAW-2, LAW-3: whatever the bytes, the answer is an error, or a packet that has this encoding.
#[test]
fn any_bytes_have_one_answer() {
    let mut random = Random(1);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut datagram: Vec<u8> = match round % 3 {
            0 => (0..random.below(60)).map(|_| random.next() as u8).collect(),
            1 => encode_packet(ID, &slice(7, 3, 4).into()).to_vec(),
            _ => encode_packet(ID, &ack(7, &"10".repeat(random.below(100) as usize + 1)).into()).to_vec(),
        };
        if round % 3 > 0 {
            let bit = random.below(8 * datagram.len() as u32) as usize;
            datagram[bit / 8] ^= 1 << (bit % 8);
            datagram.truncate(datagram.len().saturating_sub(random.below(2) as usize * random.below(20) as usize));
        }
        if datagram.len() >= 4 {
            seal(&mut datagram);
        }
        match decode_packet(ID, &datagram) {
            Ok(packet) => {
                taken += 1;
                assert_eq!(encode_packet(ID, &packet)[..], datagram[..]);
            }
            Err(error) => {
                refused += 1;
                assert!(error.place <= 8 * datagram.len());
            }
        }
        for kind in [Kind::Slice, Kind::Ack] {
            if let Ok(packet) = decode_body(kind, &datagram) {
                assert_eq!(encode_body(&packet)[..], datagram[..]);
            }
        }
    }
    assert!(taken > 1000 && refused > 1000, "{taken} taken, {refused} refused");
}
