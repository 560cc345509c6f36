//! What happens next: a priority queue of events in order of (time, sequence number).

use super::clock::Micros;
use bevy::prelude::{Entity, Resource};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that happens at a moment. It takes 16 bytes: the calendar moves many of them, so references to calls are
/// spelled out, which lets the compiler lay them out without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Measuring begins.
    WarmupEnds,
    /// The next session of a traffic source begins. An older generation was re-timed since.
    SessionArrives { traffic: Entity, generation: u32 },
    /// A session's think time is over.
    StepDue { session: Entity },
    /// The next call of the recorded trace is due.
    RecordedDue,
    /// A core of a router is free again. Of an older epoch: before a crash.
    CoreFree { router: Entity, epoch: u32 },
    /// A call's latency in its router is over.
    Routed { call: Entity, generation: u32 },
    /// A router's second has passed: does it crash? Of an older epoch: before a crash.
    RouterTick { router: Entity, epoch: u32 },
    /// A crashed router is up again.
    RouterUp { router: Entity },
    /// The prefill under way on a replica is over.
    PrefillDone { replica: Entity },
    /// The first of a replica's decoding calls has its last token. An older version was re-timed since.
    DecodeDone { replica: Entity, version: u32 },
    /// A client's patience is over.
    TimedOut { call: Entity, generation: u32 },
}

/// The calendar of one run.
#[derive(Resource, Default)]
pub struct Calendar {
    heap: BinaryHeap<Reverse<Entry>>,
    scheduled: u64,
    /// How many events were processed. One that was overtaken (re-timed, or its call gone) does not count.
    pub processed: u64,
}

struct Entry {
    time: Micros,
    sequence: u64,
    event: Event,
}

impl Entry {
    fn rank(&self) -> (Micros, u64) {
        (self.time, self.sequence)
    }
}
impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl Calendar {
    /// Enters an event at a moment. Of events at the same moment, the one entered first comes first.
    pub fn at(&mut self, time: Micros, event: Event) {
        self.heap.push(Reverse(Entry { time, sequence: self.scheduled, event }));
        self.scheduled += 1;
    }

    /// When the next event is.
    pub fn next_time(&self) -> Option<Micros> {
        self.heap.peek().map(|Reverse(entry)| entry.time)
    }

    /// Takes the next event out, if it is due by `until`.
    pub fn pop_until(&mut self, until: Micros) -> Option<(Micros, Event)> {
        if self.next_time()? > until {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| (entry.time, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_16_bytes() {
        assert_eq!(size_of::<Event>(), 16);
        assert_eq!(size_of::<Entry>(), 32);
    }
}
