//! A second engine for recorded calls behind one router, written from the text of `model.md` and as simple as that text
//! allows: everything is a plain list, every question a scan. Decode is integrated from event to event, call by call.
//! The router's latency is constant and its affinity 0 or 1, so that nothing is left to chance.

use warmpath::blueprint::{Policy, Replica, Router};
use warmpath::sim::{Micros, RecordedCall};

/// A chunk of a prompt: block id and length in tokens.
type Chunk = (u64, u64);

fn chain(call: &RecordedCall) -> Vec<Chunk> {
    let last = call.blocks.len() - 1;
    let length = |place: usize| if place == last { call.prompt_tokens - 512 * last as u64 } else { 512 };
    call.blocks.iter().enumerate().map(|(place, id)| (*id, length(place))).collect()
}

/// Chunks that a cache holds, each with all that comes before it. The last one of a chain may be an answer, which no
/// prompt names.
struct Chunks {
    held: Vec<Held>,
    stamp: u64,
}

struct Held {
    chain: Vec<Chunk>,
    tokens: u64,
    users: u64,
    last_use: u64,
    answer: bool,
}

impl Chunks {
    fn place(&self, chain: &[Chunk]) -> Option<usize> {
        // The last chunk first: most chains of a length differ there.
        let last = chain.last();
        self.held.iter().position(|held| {
            !held.answer && held.chain.len() == chain.len() && held.chain.last() == last && held.chain == chain
        })
    }

    /// How many chunks of a chain are held, from its start.
    fn longest(&self, chain: &[Chunk]) -> usize {
        (0..chain.len()).take_while(|&end| self.place(&chain[..=end]).is_some()).count()
    }

    fn tokens(&self) -> u64 {
        self.held.iter().map(|held| held.tokens).sum()
    }

    /// The chunk goes whose last use is the longest ago, of those that nobody uses.
    fn evict_one(&mut self) -> Option<u64> {
        let unused = self.held.iter().enumerate().filter(|(_, held)| held.users == 0);
        let (oldest, _) = unused.min_by_key(|(_, held)| held.last_use)?;
        Some(self.held.swap_remove(oldest).tokens)
    }

    fn add(&mut self, chain: Vec<Chunk>, tokens: u64, users: u64, answer: bool) {
        self.stamp += 1;
        self.held.push(Held { chain, tokens, users, last_use: self.stamp, answer });
    }

    fn touch(&mut self, place: usize) {
        self.stamp += 1;
        self.held[place].last_use = self.stamp;
    }
}

/// The hit tokens of a replica that takes these calls one after the other in no time: a plain LRU count.
pub fn untimed_hits<'a>(calls: impl Iterator<Item = &'a RecordedCall>, capacity: u64) -> u64 {
    let mut cache = Chunks { held: Vec::new(), stamp: 0 };
    let (mut hits, mut used) = (0, 0);
    for call in calls {
        let chain = chain(call);
        if call.prompt_tokens + call.output_tokens > capacity {
            continue;
        }
        let found = cache.longest(&chain);
        hits += chain[..found].iter().map(|chunk| chunk.1).sum::<u64>();
        for end in 0..chain.len() {
            match cache.place(&chain[..=end]) {
                Some(place) => cache.held[place].users += 1,
                None => {
                    cache.add(chain[..=end].to_vec(), chain[end].1, 1, false);
                    used += chain[end].1;
                }
            }
        }
        used += call.output_tokens;
        cache.add(chain.clone(), call.output_tokens, 0, true);
        while used > capacity {
            used -= cache.evict_one().unwrap();
        }
        for end in (0..chain.len()).rev() {
            let place = cache.place(&chain[..=end]).unwrap();
            cache.held[place].users -= 1;
            cache.touch(place);
        }
    }
    hits
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    Answered { replica: usize, at: Micros },
    RouterQueueFull { at: Micros },
    ReplicaQueueFull { replica: usize, at: Micros },
    PromptTooLarge { replica: usize, at: Micros },
}

/// What the engine found.
#[derive(Default)]
pub struct Outcome {
    /// Of each call that ended, in the order of ending.
    pub fates: Vec<(usize, Fate)>,
    /// Hit tokens of each replica.
    pub hits: Vec<u64>,
    /// Prompt tokens that each replica admitted.
    pub prompts: Vec<u64>,
    /// Tokens that each replica evicted.
    pub evicted: Vec<u64>,
    pub spills: u64,
    /// From sending to the end of prefill, in the order of these ends.
    pub ttfts: Vec<Micros>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Event {
    Arrival(usize),
    CoreFree,
    Routed(usize),
    PrefillEnds(usize),
    FirstDecodeEnds(usize),
}

struct Station {
    settings: Replica,
    queue: Vec<usize>,
    prefilling: Option<usize>,
    /// Calls that decode, in the order of their joining, each with the tokens it still wants.
    decoding: Vec<(usize, f64)>,
    integrated_to: Micros,
    cache: Chunks,
    /// Tokens of prompts under way and of answers to come.
    reserved: u64,
}

impl Station {
    fn running(&self) -> u64 {
        self.decoding.len() as u64 + u64::from(self.prefilling.is_some())
    }

    fn busy(&self) -> u64 {
        self.running() + self.queue.len() as u64
    }

    fn token_us(&self) -> f64 {
        (self.settings.decode_base_ms + self.settings.decode_per_call_ms * self.decoding.len() as f64) * 1e3
    }

    /// Every decoding call gets the tokens that it made since the last event.
    fn integrate(&mut self, now: Micros) {
        let token = self.token_us();
        if token > 0.0 {
            let made = (now - self.integrated_to) as f64 / token;
            self.decoding.iter_mut().for_each(|(_, left)| *left -= made);
        }
        self.integrated_to = now;
    }

    fn first_to_end(&self) -> Option<usize> {
        (0..self.decoding.len()).min_by(|&a, &b| self.decoding[a].1.total_cmp(&self.decoding[b].1))
    }
}

pub struct Engine<'a> {
    calls: &'a [RecordedCall],
    router: Router,
    stations: Vec<Station>,
    now: Micros,
    /// What is to come, as (time, order of being known, event).
    agenda: Vec<(Micros, u64, Event)>,
    known: u64,
    in_slots: u64,
    slot_queue: Vec<usize>,
    core_queue: Vec<usize>,
    busy_cores: u64,
    turn: usize,
    /// Chains that were sent, each with the replica that was last sent it.
    sent: Vec<(Vec<Chunk>, usize)>,
    outcome: Outcome,
}

/// Runs the calls to the end of the last one.
pub fn run(calls: &[RecordedCall], router: &Router, replicas: &[Replica]) -> Outcome {
    assert_eq!(router.p50_ms, router.p99_ms, "a constant latency");
    assert!(router.affinity == 0.0 || router.affinity == 1.0 && router.prefix_hit == 1.0);
    let station = |settings: &Replica| Station {
        settings: settings.clone(),
        queue: Vec::new(),
        prefilling: None,
        decoding: Vec::new(),
        integrated_to: 0,
        cache: Chunks { held: Vec::new(), stamp: 0 },
        reserved: 0,
    };
    let zeros = vec![0; replicas.len()];
    let mut engine = Engine {
        calls,
        router: router.clone(),
        stations: replicas.iter().map(station).collect(),
        now: 0,
        agenda: Vec::new(),
        known: 0,
        in_slots: 0,
        slot_queue: Vec::new(),
        core_queue: Vec::new(),
        busy_cores: 0,
        turn: 0,
        sent: Vec::new(),
        outcome: Outcome { hits: zeros.clone(), prompts: zeros.clone(), evicted: zeros, ..Outcome::default() },
    };
    if let Some(first) = calls.first() {
        engine.plan(first.time, Event::Arrival(0));
    }
    while engine.next() {}
    engine.outcome
}

fn micros(ms: f64) -> Micros {
    (ms * 1e3).round() as Micros
}

impl Engine<'_> {
    fn plan(&mut self, time: Micros, event: Event) {
        self.known += 1;
        self.agenda.push((time, self.known, event));
    }

    fn next(&mut self) -> bool {
        let Some(place) = (0..self.agenda.len()).min_by_key(|&place| (self.agenda[place].0, self.agenda[place].1))
        else {
            return false;
        };
        let (time, _, event) = self.agenda.remove(place);
        self.now = time;
        match event {
            Event::Arrival(call) => self.arrival(call),
            Event::CoreFree => {
                self.busy_cores -= 1;
                self.use_cores();
            }
            Event::Routed(call) => self.routed(call),
            Event::PrefillEnds(replica) => self.prefill_ends(replica),
            Event::FirstDecodeEnds(replica) => self.decode_ends(replica),
        }
        true
    }

    fn ended(&mut self, call: usize, fate: Fate) {
        self.outcome.fates.push((call, fate));
    }

    fn arrival(&mut self, call: usize) {
        if let Some(next) = self.calls.get(call + 1) {
            self.plan(next.time, Event::Arrival(call + 1));
        }
        if self.in_slots < self.router.slots {
            self.enter(call);
        } else if (self.slot_queue.len() as u64) < self.router.queue {
            self.slot_queue.push(call);
        } else {
            self.ended(call, Fate::RouterQueueFull { at: self.now });
        }
    }

    fn enter(&mut self, call: usize) {
        self.in_slots += 1;
        self.core_queue.push(call);
        self.use_cores();
    }

    fn use_cores(&mut self) {
        let cpu = micros(self.router.cpu_ms);
        while !self.core_queue.is_empty() && (cpu == 0 || self.busy_cores < self.router.vcpu) {
            let call = self.core_queue.remove(0);
            if cpu > 0 {
                self.busy_cores += 1;
                self.plan(self.now + cpu, Event::CoreFree);
            }
            self.plan(self.now + micros(self.router.p50_ms), Event::Routed(call));
        }
    }

    fn routed(&mut self, call: usize) {
        let replica = self.pick(call);
        if self.hand_over(call, replica) {
            self.remember(call, replica);
        }
        self.in_slots -= 1;
        while !self.slot_queue.is_empty() && self.in_slots < self.router.slots {
            let next = self.slot_queue.remove(0);
            self.enter(next);
        }
    }

    fn in_turn(&mut self) -> usize {
        self.turn += 1;
        (self.turn - 1) % self.stations.len()
    }

    fn least_busy(&self) -> usize {
        (0..self.stations.len()).min_by_key(|&replica| (self.stations[replica].busy(), replica)).unwrap()
    }

    fn pick(&mut self, call: usize) -> usize {
        match self.router.policy {
            Policy::RoundRobin => self.in_turn(),
            Policy::LeastBusy => self.least_busy(),
            Policy::Random => panic!("nothing is left to chance here"),
            Policy::StickySpill if self.router.affinity == 0.0 => self.in_turn(),
            Policy::StickySpill => match self.home(call) {
                None => self.least_busy(),
                Some(home) => {
                    let waiting = self.stations[home].queue.len() as u64;
                    if self.router.spill > 0 && waiting >= self.router.spill {
                        self.outcome.spills += 1;
                        self.least_busy()
                    } else {
                        home
                    }
                }
            },
        }
    }

    /// The replica that was last sent the longest part of the chain that was ever sent, if it is at least half.
    fn home(&self, call: usize) -> Option<usize> {
        let chain = chain(&self.calls[call]);
        let mut seen = None;
        for end in 1..=chain.len() {
            match self.sent.iter().find(|(known, _)| *known == chain[..end]) {
                Some((_, replica)) => seen = Some((end, *replica)),
                None => break,
            }
        }
        let (end, replica) = seen?;
        let tokens: u64 = chain[..end].iter().map(|chunk| chunk.1).sum();
        (2 * tokens >= self.calls[call].prompt_tokens).then_some(replica)
    }

    fn remember(&mut self, call: usize, replica: usize) {
        if self.router.policy != Policy::StickySpill || self.router.affinity == 0.0 {
            return;
        }
        let chain = chain(&self.calls[call]);
        for end in 1..=chain.len() {
            match self.sent.iter_mut().find(|(known, _)| *known == chain[..end]) {
                Some((_, home)) => *home = replica,
                None => self.sent.push((chain[..end].to_vec(), replica)),
            }
        }
    }

    /// Gives a call to a replica; whether that accepts it.
    fn hand_over(&mut self, call: usize, replica: usize) -> bool {
        let asked = &self.calls[call];
        let at = self.now;
        if asked.prompt_tokens + asked.output_tokens > self.stations[replica].settings.kv_tokens {
            self.ended(call, Fate::PromptTooLarge { replica, at });
            return false;
        }
        if self.stations[replica].queue.is_empty() && self.admit(call, replica) {
            return true;
        }
        if self.stations[replica].queue.len() as u64 >= self.stations[replica].settings.queue {
            self.ended(call, Fate::ReplicaQueueFull { replica, at });
            return false;
        }
        self.stations[replica].queue.push(call);
        true
    }

    fn admit_head(&mut self, replica: usize) {
        if let Some(&head) = self.stations[replica].queue.first()
            && self.admit(head, replica)
        {
            self.stations[replica].queue.remove(0);
        }
    }

    fn admit(&mut self, call: usize, replica: usize) -> bool {
        let asked = &self.calls[call];
        let station = &mut self.stations[replica];
        if station.prefilling.is_some() || station.running() >= station.settings.slots {
            return false;
        }
        let chain = chain(asked);
        let found = station.cache.longest(&chain);
        let hit: u64 = chain[..found].iter().map(|chunk| chunk.1).sum();
        let need = asked.prompt_tokens - hit + asked.output_tokens;
        // What must stay: what is in use, and the chunks of its own prompt.
        for end in 0..found {
            let place = station.cache.place(&chain[..=end]).unwrap();
            station.cache.held[place].users += 1;
        }
        let must_stay: u64 = station.cache.held.iter().filter(|held| held.users > 0).map(|held| held.tokens).sum();
        if must_stay + station.reserved + need > station.settings.kv_tokens {
            for end in 0..found {
                let place = station.cache.place(&chain[..=end]).unwrap();
                station.cache.held[place].users -= 1;
            }
            return false;
        }
        let mut used = station.cache.tokens() + station.reserved;
        while used + need > station.settings.kv_tokens {
            let freed = station.cache.evict_one().unwrap();
            used -= freed;
            self.outcome.evicted[replica] += freed;
        }
        station.reserved += need;
        station.prefilling = Some(call);
        let computed = (asked.prompt_tokens - hit).max(1);
        let time =
            station.settings.prefill_base_ms * 1e3 + computed as f64 * 1e6 / station.settings.prefill_tokens_per_s;
        self.outcome.hits[replica] += hit;
        self.outcome.prompts[replica] += asked.prompt_tokens;
        self.plan(self.now + time.round() as Micros, Event::PrefillEnds(replica));
        true
    }

    fn prefill_ends(&mut self, replica: usize) {
        let station = &mut self.stations[replica];
        let call = station.prefilling.take().unwrap();
        let chain = chain(&self.calls[call]);
        for end in station.cache.longest(&chain)..chain.len() {
            station.cache.add(chain[..=end].to_vec(), chain[end].1, 1, false);
            station.reserved -= chain[end].1;
        }
        station.integrate(self.now);
        station.decoding.push((call, self.calls[call].output_tokens as f64));
        self.outcome.ttfts.push(self.now - self.calls[call].time);
        self.retime(replica);
        self.admit_head(replica);
    }

    /// The number of decoding calls has changed, and with it every call's pace.
    fn retime(&mut self, replica: usize) {
        self.agenda.retain(|(_, _, event)| *event != Event::FirstDecodeEnds(replica));
        let station = &self.stations[replica];
        if let Some(first) = station.first_to_end() {
            let wait = (station.decoding[first].1.max(0.0) * station.token_us()).round() as Micros;
            self.plan(self.now + wait, Event::FirstDecodeEnds(replica));
        }
    }

    fn decode_ends(&mut self, replica: usize) {
        let station = &mut self.stations[replica];
        station.integrate(self.now);
        let first = station.first_to_end().unwrap();
        let (call, _) = station.decoding.remove(first);
        self.retime(replica);
        let station = &mut self.stations[replica];
        let chain = chain(&self.calls[call]);
        let answer = self.calls[call].output_tokens;
        station.reserved -= answer;
        if answer > 0 {
            station.cache.add(chain.clone(), answer, 0, true);
        }
        for end in (0..chain.len()).rev() {
            let place = station.cache.place(&chain[..=end]).unwrap();
            station.cache.held[place].users -= 1;
            station.cache.touch(place);
        }
        self.ended(call, Fate::Answered { replica, at: self.now });
        self.admit_head(replica);
    }
}
