//! One chunk over UDP, as testvectors/LIVE.md asks for: a driver around the machines. The
//! environment says what to do: CHUNKWIRE_MODE (send or recv), CHUNKWIRE_ADDRESS (an IPv4 address
//! and a port), CHUNKWIRE_PROTOCOL_ID (decimal).

#![forbid(unsafe_code)]

use chunkwire::*;
use std::env;
use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const SECOND: Micros = 1_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let address: SocketAddr = env::var("CHUNKWIRE_ADDRESS")?.parse()?;
    let protocol_id = env::var("CHUNKWIRE_PROTOCOL_ID")?.parse()?;
    match env::var("CHUNKWIRE_MODE")?.as_str() {
        "send" => send(&mut Link::new(UdpSocket::bind("0.0.0.0:0")?, address, protocol_id)),
        "recv" => receive(&mut Link::new(UdpSocket::bind(address)?, address, protocol_id)),
        _ => Err("CHUNKWIRE_MODE is neither send nor recv".into()),
    }
}

/// Sends standard input as chunk 0.
fn send(link: &mut Link) -> Result<(), Box<dyn Error>> {
    let mut chunk = Vec::new();
    io::stdin().take(MAX_CHUNK as u64 + 1).read_to_end(&mut chunk)?;
    let mut sender = Sender::new(Config::default(), Base::new(Profile::BURST).map_err(|e| e.to_string())?);
    let mut buffer = [0; 2048];
    let mut now = link.now();
    sender.submit(now, chunk).map_err(|refused| refused.code())?;
    while sender.state() == SenderState::Sending {
        while let Some(slice) = sender.poll(now).packet {
            link.send(&slice.into());
        }
        let packet = link.wait(sender.deadline(), &mut buffer)?;
        now = link.now();
        if let Some(Packet::Ack(ack)) = packet {
            sender.ack(now, &ack); // before the poll of that time (SND-4)
        }
    }
    match sender.state() {
        SenderState::Failed => Err("no answer, gave up".into()),
        _ => Ok(()),
    }
}

/// Receives chunk 0, and answers on until no slice has come for 3 s.
fn receive(link: &mut Link) -> Result<(), Box<dyn Error>> {
    let mut receiver = Receiver::new(Config::default(), vec![0; MAX_CHUNK]);
    let mut chunk: Option<Vec<u8>> = None;
    let mut buffer = [0; 2048];
    let mut now = link.now();
    let mut quiet_since = now;
    while chunk.is_none() || now - quiet_since < 3 * SECOND {
        let packet = link.wait(receiver.deadline(), &mut buffer)?;
        now = link.now();
        if let Some(Packet::Slice(slice)) = packet {
            quiet_since = now;
            receiver.slice(now, &slice);
        }
        while let Some(ack) = receiver.poll(now).packet {
            link.send(&ack.into());
        }
        if receiver.state() == ReceiverState::Failed {
            return Err("no further slices, gave up".into());
        }
        if chunk.is_none() {
            chunk = receiver.read(now).ok().map(<[u8]>::to_vec);
        }
    }
    Ok(io::stdout().write_all(&chunk.unwrap_or_default())?)
}

/// A socket, a peer and a clock.
struct Link {
    socket: UdpSocket,
    peer: SocketAddr,
    protocol_id: u32,
    start: Instant,
}

impl Link {
    fn new(socket: UdpSocket, peer: SocketAddr, protocol_id: u32) -> Link {
        Link { socket, peer, protocol_id, start: Instant::now() }
    }

    /// TIM-2.
    fn now(&self) -> Micros {
        self.start.elapsed().as_micros() as Micros
    }

    /// A datagram that the system refuses is as good as lost.
    fn send(&self, packet: &Packet<'_>) {
        let _ = self.socket.send_to(&encode_packet(self.protocol_id, packet), self.peer);
    }

    /// Waits for a datagram until the deadline, and for a second at most. What does not decode does
    /// not count (CON-4).
    fn wait<'a>(&mut self, deadline: Option<Micros>, buffer: &'a mut [u8]) -> io::Result<Option<Packet<'a>>> {
        let now = self.now();
        let left = deadline.map_or(SECOND, |at| (at - now).clamp(1, SECOND));
        self.socket.set_read_timeout(Some(Duration::from_micros(left as u64)))?;
        let (size, from) = match self.socket.recv_from(buffer) {
            Ok(received) => received,
            Err(_) => return Ok(None), // nothing came, or an ICMP message says that nobody is there yet
        };
        let packet = decode_packet(self.protocol_id, &buffer[..size]).ok();
        if let Some(Packet::Slice(_)) = packet {
            self.peer = from; // where acks go (CON-8)
        }
        Ok(packet)
    }
}
