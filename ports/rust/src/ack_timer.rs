//! When acks go out (section 8.6).

use crate::time::{Micros, MS};

const ACK_INTERVAL: Micros = 2 * MS;
const ACK_EVERY: u16 = 16;

/// The three acks that can be due, in the order in which they go out (RCV-16).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Previous,
    Current,
    Hold,
}

/// AKT-6.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckTimer {
    previous: bool,
    current: bool,
    hold: bool,
    ack_at: Option<Micros>,
    last_ack_at: Option<Micros>,
    unreported: u16,
    next_new: u16, // last_new + 1
    after_gap: bool,
}

impl AckTimer {
    /// START: a hold that is due is forgotten (RCV-10), and AKT-1.
    pub(crate) fn start(&mut self) {
        self.hold = false;
        self.unreported = 0;
        self.next_new = 0;
        self.after_gap = false;
    }

    /// AKT-2.
    pub(crate) fn due_soon(&mut self, which: Due, now: Micros) {
        let at = self.last_ack_at.map_or(now, |last| now.max(last + ACK_INTERVAL));
        self.due_at(which, at);
    }

    /// STORE: AKT-3, AKT-4.
    pub(crate) fn stored(&mut self, now: Micros, slice_id: u16) {
        let gap = slice_id != self.next_new;
        self.unreported += 1;
        if gap || self.after_gap || self.unreported >= ACK_EVERY {
            self.due_at(Due::Current, now);
        } else {
            self.due_soon(Due::Current, now);
        }
        self.next_new = slice_id + 1;
        self.after_gap = gap;
    }

    /// COMPLETE: the acks that are due are replaced by one of the chunk just completed, due at
    /// once (RCV-12, ACQ-3).
    pub(crate) fn completed(&mut self, now: Micros) {
        self.current = false;
        self.due_at(Due::Previous, now);
    }

    /// The ack that goes out now (AKT-5, RCV-16).
    pub(crate) fn take(&mut self, now: Micros) -> Option<Due> {
        if self.ack_at? > now {
            return None;
        }
        let due = [(&mut self.previous, Due::Previous), (&mut self.current, Due::Current), (&mut self.hold, Due::Hold)];
        let (flag, which) = due.into_iter().find(|(flag, _)| **flag)?;
        *flag = false;
        if !(self.previous || self.current || self.hold) {
            self.ack_at = None;
            self.last_ack_at = Some(now);
            self.unreported = 0;
        }
        Some(which)
    }

    /// When the next ack goes out.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.ack_at
    }

    fn due_at(&mut self, which: Due, at: Micros) {
        match which {
            Due::Previous => self.previous = true,
            Due::Current => self.current = true,
            Due::Hold => self.hold = true,
        }
        self.ack_at = Some(self.ack_at.map_or(at, |before| before.min(at)));
    }
}
