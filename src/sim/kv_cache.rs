//! A replica's KV cache: which chunks it holds, which of them running calls use, and what leaves first.
//!
//! Chunks that a running call uses are pinned. The others stay until their room is needed, and leave least recently used
//! first; at a call's end its chunks become the most recently used, the root last of all, so that a chunk's later
//! neighbours always leave before it. Prefix caching in vLLM frees a request's blocks in this same order.
//!
//! Since a replica prefills one call at a time, a chunk enters the tree when its prefill has ended; until then its
//! tokens are reserved. So whatever the tree holds is computed, and a look-up is a hit.
//!
//! A session's own chunks are kept as one run. That is exact: only the session itself continues its chain, every call of
//! it uses the whole of what is cached, so the chunks of a run are always of the same age, and leave from the end.

use super::lru_trie::{ChunkId, LruTrie, NodeId, ROOT};
use super::prompt::{Family, OwnChunks, Prompt, SessionPrompt, block_chunks};
use bevy::prelude::Component;
use smallvec::SmallVec;

/// What a node of the cache holds.
struct Held {
    tokens: u64,
    pins: u32,
    content: Content,
}

enum Content {
    /// One chunk.
    Chunk,
    /// The first `count` chunks of a session's own.
    Run { own: OwnChunks, count: u64 },
    /// A recorded call's output: it takes room until it is evicted, but no later prompt names it.
    Output,
    /// Nothing: the node is free.
    Gone,
}

/// What a running call holds of the cache.
#[derive(Debug, Default)]
pub struct Lease {
    /// The nodes it has pinned, from the root on.
    nodes: SmallVec<[NodeId; 2]>,
    /// Tokens of its output, reserved.
    output: u64,
}

/// The KV cache of a replica.
#[derive(Component, Default)]
pub struct KvCache {
    /// How many tokens it may hold.
    pub capacity: u64,
    /// Tokens it holds: of nodes and of reservations.
    used: u64,
    /// Tokens of nodes that no running call uses.
    idle: u64,
    trie: LruTrie<Held>,
    /// Tokens evicted since the start.
    pub evicted: u64,
}

/// What of a prompt is in the cache.
struct Found {
    nodes: SmallVec<[NodeId; 2]>,
    tokens: u64,
    idle: u64,
}

impl KvCache {
    /// An empty cache.
    pub fn new(capacity: u64) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// Tokens of all chunks it holds or has reserved.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Could a call of this size ever fit?
    pub fn could_fit(&self, prompt: u64, output: u64) -> bool {
        prompt.saturating_add(output) <= self.capacity
    }

    /// How many tokens of the prompt, from its start, the cache holds.
    pub fn peek(&self, prompt: &Prompt) -> u64 {
        self.find(prompt).tokens
    }

    fn find(&self, prompt: &Prompt) -> Found {
        let mut found = Found { nodes: SmallVec::new(), tokens: 0, idle: 0 };
        match prompt {
            Prompt::Session(prompt) => {
                let parent = match prompt.shared_chunk() {
                    None => Some(ROOT),
                    Some(chunk) => self.step_into(ROOT, chunk, &mut found),
                };
                if let Some(parent) = parent {
                    self.step_into(parent, ChunkId::Session(prompt.session), &mut found);
                }
            }
            Prompt::Recorded { blocks, tokens } => {
                let mut parent = ROOT;
                for (chunk, _) in block_chunks(blocks, *tokens) {
                    match self.step_into(parent, chunk, &mut found) {
                        Some(node) => parent = node,
                        None => break,
                    }
                }
            }
        }
        found
    }

    fn step_into(&self, parent: NodeId, chunk: ChunkId, found: &mut Found) -> Option<NodeId> {
        let node = self.trie.find(parent, chunk)?;
        let held = self.trie.get(node);
        found.nodes.push(node);
        found.tokens += held.tokens;
        if held.pins == 0 {
            found.idle += held.tokens;
        }
        Some(node)
    }

    /// Admits a call: pins what the cache holds of its prompt and reserves the rest of it and its output, evicting as
    /// much as that needs. Returns the tokens found. Where it does not fit, nothing is evicted. `force` takes it all the
    /// same: for a call accepted before the cache was made smaller, when nothing else is running.
    pub fn admit(&mut self, prompt: &Prompt, output: u64, force: bool) -> Option<(Lease, u64)> {
        let found = self.find(prompt);
        let need = prompt.tokens() - found.tokens + output;
        let busy = self.used - (self.idle - found.idle);
        if busy.saturating_add(need) > self.capacity && !force {
            return None;
        }
        for &node in &found.nodes {
            self.pin(node);
        }
        while self.used.saturating_add(need) > self.capacity && self.evict_one() {}
        self.used += need;
        Some((Lease { nodes: found.nodes, output }, found.tokens))
    }

    fn pin(&mut self, node: NodeId) {
        let held = self.trie.get_mut(node);
        held.pins += 1;
        if held.pins == 1 {
            self.idle -= held.tokens;
            self.trie.unlist(node);
        }
    }

    fn unpin(&mut self, node: NodeId) {
        let held = self.trie.get_mut(node);
        held.pins -= 1;
        if held.pins == 0 {
            self.idle += held.tokens;
            self.trie.touch(node);
        }
    }

    /// Evicts the least recently used chunk; false if every chunk is in use.
    fn evict_one(&mut self) -> bool {
        let Some(node) = self.trie.oldest() else { return false };
        let held = self.trie.get_mut(node);
        let (freed, gone) = match &mut held.content {
            Content::Run { own, count } if *count > 1 => {
                *count -= 1;
                (own.length(*count), false)
            }
            _ => (held.tokens, true),
        };
        held.tokens -= freed;
        if gone {
            held.content = Content::Gone;
            self.trie.remove(node);
        }
        self.used -= freed;
        self.idle -= freed;
        self.evicted += freed;
        true
    }

    /// The call's prefill has ended: the chunks that it computed are in the cache from now on, pinned.
    pub fn computed(&mut self, lease: &mut Lease, prompt: &Prompt) {
        match prompt {
            Prompt::Session(prompt) => self.computed_session(lease, prompt),
            Prompt::Recorded { blocks, tokens } => {
                let known = lease.nodes.len();
                let mut parent = lease.nodes.last().copied().unwrap_or(ROOT);
                for (chunk, length) in block_chunks(blocks, *tokens).skip(known) {
                    parent = self.insert_pinned(parent, chunk, length, Content::Chunk);
                    lease.nodes.push(parent);
                }
            }
        }
    }

    fn computed_session(&mut self, lease: &mut Lease, prompt: &SessionPrompt) {
        let depth = usize::from(prompt.shared.is_some());
        if let Some((traffic, tokens)) = prompt.shared
            && lease.nodes.is_empty()
        {
            let chunk = ChunkId::Shared { traffic, tokens };
            lease.nodes.push(self.insert_pinned(ROOT, chunk, tokens, Content::Chunk));
        }
        let (own, count) = (prompt.own, prompt.own_count());
        match lease.nodes.get(depth) {
            Some(&run) => {
                let held = self.trie.get_mut(run);
                held.tokens = own.total(count);
                held.content = Content::Run { own, count };
            }
            None => {
                let parent = if depth == 0 { ROOT } else { lease.nodes[0] };
                let chunk = ChunkId::Session(prompt.session);
                let run = self.insert_pinned(parent, chunk, own.total(count), Content::Run { own, count });
                lease.nodes.push(run);
            }
        }
    }

    fn insert_pinned(&mut self, parent: NodeId, chunk: ChunkId, tokens: u64, content: Content) -> NodeId {
        self.trie.insert(parent, Some(chunk), Held { tokens, pins: 1, content })
    }

    /// The call has ended: its chunks stay, no longer pinned by it, the root the most recently used. Its output stays too
    /// if it was answered, and is given up if it was not.
    pub fn release(&mut self, lease: Lease, prompt: &Prompt, answered: bool) {
        if !answered {
            self.used -= lease.output;
        } else if let Prompt::Session(_) = prompt {
            // The run is the last of the nodes; its output becomes its last chunk.
            if let Some(&run) = lease.nodes.last() {
                let held = self.trie.get_mut(run);
                held.tokens += lease.output;
                if let Content::Run { count, .. } = &mut held.content {
                    *count += 1;
                }
            }
        } else if lease.output > 0 {
            let held = Held { tokens: lease.output, pins: 1, content: Content::Output };
            let node = self.trie.insert(ROOT, None, held);
            self.unpin(node);
        }
        for &node in lease.nodes.iter().rev() {
            self.unpin(node);
        }
    }

    /// What the cache holds, as (whose, tokens, in use), in an order that is steady from one look to the next.
    pub fn contents(&self) -> impl Iterator<Item = (Option<Family>, u64, bool)> + '_ {
        self.trie.iter().filter_map(|(chunk, held)| {
            let family = match (chunk, &held.content) {
                (_, Content::Gone) => return None,
                (Some(ChunkId::Shared { traffic, .. }), _) => Some(Family::Shared(traffic)),
                (Some(ChunkId::Session(session)), _) => Some(Family::Session(session)),
                (Some(ChunkId::Block { id, .. }), _) => Some(Family::Session(id)),
                (None, _) => None,
            };
            Some((family, held.tokens, held.pins > 0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A cache as the model's text has it, and nothing more: a plain list of chunks, each under the chain that leads to
    /// it, with who uses it and when it was last used.
    #[derive(Default)]
    struct Naive {
        capacity: u64,
        held: Vec<Chunk>,
        reserved: u64,
        stamp: u64,
        evicted: u64,
    }

    struct Chunk {
        chain: Vec<String>,
        tokens: u64,
        users: u64,
        last_use: u64,
    }

    /// The chain of a prompt: the name of each chunk and its length.
    fn chain(prompt: &Prompt) -> Vec<(String, u64)> {
        match prompt {
            Prompt::Session(SessionPrompt { session, shared, own, step }) => {
                let mut chain = Vec::new();
                if let Some((traffic, tokens)) = shared {
                    chain.push((format!("shared {traffic} {tokens}"), *tokens));
                }
                chain.push((format!("base of {session}"), own.base));
                for step in 1..=*step {
                    if step > 1 {
                        chain.push((format!("output {} of {session}", step - 1), own.output));
                    }
                    chain.push((format!("input {step} of {session}"), own.input));
                }
                chain
            }
            Prompt::Recorded { blocks, tokens } => {
                let last = blocks.len() - 1;
                let length = |place: usize| if place == last { tokens - 512 * last as u64 } else { 512 };
                let name = |place: usize| format!("block {} of {}", blocks[place], length(place));
                (0..blocks.len()).map(|place| (name(place), length(place))).collect()
            }
        }
    }

    fn names(chain: &[(String, u64)]) -> Vec<String> {
        chain.iter().map(|(name, _)| name.clone()).collect()
    }

    impl Naive {
        fn place(&self, chain: &[String]) -> Option<usize> {
            self.held.iter().position(|chunk| chunk.chain == chain)
        }

        fn used(&self) -> u64 {
            self.held.iter().map(|chunk| chunk.tokens).sum::<u64>() + self.reserved
        }

        fn found(&self, prompt: &Prompt) -> (usize, u64) {
            let (chain, names) = (chain(prompt), names(&chain(prompt)));
            let found = (0..chain.len()).take_while(|&end| self.place(&names[..=end]).is_some()).count();
            (found, chain[..found].iter().map(|(_, tokens)| tokens).sum())
        }

        fn admit(&mut self, prompt: &Prompt, output: u64) -> Option<u64> {
            let names = names(&chain(prompt));
            let (found, hit) = self.found(prompt);
            let need = prompt.tokens() - hit + output;
            let stays = |(place, chunk): (usize, &Chunk)| {
                let own = (0..found).any(|end| self.place(&names[..=end]) == Some(place));
                if own || chunk.users > 0 { chunk.tokens } else { 0 }
            };
            let must_stay: u64 = self.held.iter().enumerate().map(stays).sum();
            if must_stay + self.reserved + need > self.capacity {
                return None;
            }
            for end in 0..found {
                let place = self.place(&names[..=end]).expect("it was found");
                self.held[place].users += 1;
            }
            while self.used() + need > self.capacity {
                let unused = self.held.iter().enumerate().filter(|(_, chunk)| chunk.users == 0);
                let (oldest, _) = unused.min_by_key(|(_, chunk)| chunk.last_use).expect("there is room enough");
                self.evicted += self.held.remove(oldest).tokens;
            }
            self.reserved += need;
            Some(hit)
        }

        fn computed(&mut self, prompt: &Prompt) {
            let chain = chain(prompt);
            let names = names(&chain);
            for end in 0..chain.len() {
                if self.place(&names[..=end]).is_none() {
                    let chunk = Chunk { chain: names[..=end].to_vec(), tokens: chain[end].1, users: 1, last_use: 0 };
                    self.held.push(chunk);
                    self.reserved -= chain[end].1;
                }
            }
        }

        fn release(&mut self, prompt: &Prompt, output: u64, answered: bool) {
            let mut names = names(&chain(prompt));
            self.reserved -= output;
            if answered {
                // A session's next prompt names its answer; nobody names that of a recorded call.
                names.push(match prompt {
                    Prompt::Session(prompt) => format!("output {} of {}", prompt.step, prompt.session),
                    Prompt::Recorded { .. } => format!("answer {}", self.stamp),
                });
                self.held.push(Chunk { chain: names.clone(), tokens: output, users: 1, last_use: 0 });
            }
            for end in (0..names.len()).rev() {
                let place = self.place(&names[..=end]).expect("it is in use");
                self.stamp += 1;
                self.held[place].users -= 1;
                self.held[place].last_use = self.stamp;
            }
        }
    }

    /// What is done to the cache next.
    #[derive(Clone, Debug)]
    enum Action {
        /// The next step of a session is admitted, if it is not running, and computed.
        Step { session: u64 },
        /// A recorded call is admitted and computed: as many blocks of a common chain, then as many of its own.
        Recorded { chain: u64, common: u64, own: u64, last: u64, output: u64 },
        /// One of the running calls ends.
        End { which: usize, answered: bool },
        /// The capacity is another from now on.
        Resize { capacity: u64 },
    }

    fn actions() -> impl Strategy<Value = Vec<Action>> {
        let step = (0u64..6).prop_map(|session| Action::Step { session });
        let recorded = (0u64..3, 0u64..5, 0u64..3, 1u64..=512, 0u64..200)
            .prop_map(|(chain, common, own, last, output)| Action::Recorded { chain, common, own, last, output });
        let end = (0usize..8, prop::bool::weighted(0.8)).prop_map(|(which, answered)| Action::End { which, answered });
        let resize = (1_000u64..6_000).prop_map(|capacity| Action::Resize { capacity });
        prop::collection::vec(prop_oneof![8 => step, 5 => recorded, 12 => end, 1 => resize], 1..120)
    }

    struct Running {
        /// The place of its session among the six, if it is a session's.
        place: Option<usize>,
        prompt: Prompt,
        output: u64,
        lease: Lease,
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Against the naive one, after every action: what is found, what is used, what was evicted.
        #[test]
        fn the_cache_is_what_a_list_with_stamps_is(
            capacity in 1_000u64..6_000,
            own in (0u64..400, 1u64..300, 1u64..200),
            shared_tokens in 1u64..600,
            actions in actions(),
        ) {
            let mut cache = KvCache::new(capacity);
            let mut naive = Naive { capacity, ..Naive::default() };
            let mut running: Vec<Running> = Vec::new();
            // Six sessions at a time, each with its number and the step it is at.
            let mut sessions: [(u64, u64); 6] = std::array::from_fn(|place| (place as u64, 0));
            let mut fresh = 1_000;
            for action in actions {
                let (place, prompt, output) = match action {
                    Action::End { which, answered } => {
                        if !running.is_empty() {
                            let Running { place, prompt, output, lease } = running.swap_remove(which % running.len());
                            cache.release(lease, &prompt, answered);
                            naive.release(&prompt, output, answered);
                            if let (Some(place), false) = (place, answered) {
                                // A session whose step failed is over; another comes.
                                fresh += 1;
                                sessions[place] = (fresh, 0);
                            }
                        }
                        prop_assert_eq!((cache.used(), cache.evicted), (naive.used(), naive.evicted));
                        continue;
                    }
                    Action::Resize { capacity } => {
                        (cache.capacity, naive.capacity) = (capacity, capacity);
                        continue;
                    }
                    Action::Step { session } => {
                        let place = session as usize;
                        if running.iter().any(|call| call.place == Some(place)) {
                            continue;
                        }
                        sessions[place].1 += 1;
                        let (number, step) = sessions[place];
                        let prompt = SessionPrompt {
                            session: number,
                            shared: (session % 3 > 0).then_some(((session % 3) as u32, shared_tokens)),
                            own: OwnChunks { base: own.0, input: own.1, output: own.2 },
                            step,
                        };
                        (Some(place), Prompt::Session(prompt), own.2)
                    }
                    Action::Recorded { chain, common, own, last, output } => {
                        let mut blocks: Vec<u64> = (0..common).map(|block| chain * 10 + block).collect();
                        for _ in 0..own {
                            fresh += 1;
                            blocks.push(fresh);
                        }
                        if blocks.is_empty() {
                            continue;
                        }
                        let tokens = 512 * (blocks.len() as u64 - 1) + last;
                        (None, Prompt::Recorded { blocks: blocks.into(), tokens }, output)
                    }
                };
                prop_assert_eq!(cache.peek(&prompt), naive.found(&prompt).1);
                let admitted = cache.admit(&prompt, output, false);
                let expected = naive.admit(&prompt, output);
                prop_assert_eq!(admitted.as_ref().map(|(_, hit)| *hit), expected);
                prop_assert_eq!((cache.used(), cache.evicted), (naive.used(), naive.evicted));
                match admitted {
                    Some((mut lease, _)) => {
                        cache.computed(&mut lease, &prompt);
                        naive.computed(&prompt);
                        prop_assert_eq!(cache.used(), naive.used());
                        running.push(Running { place, prompt, output, lease });
                    }
                    None => {
                        // The step did not come to pass.
                        if let Some(place) = place {
                            sessions[place].1 -= 1;
                        }
                    }
                }
            }
        }
    }
}
