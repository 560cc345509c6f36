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

    /// The tokens of the shared prefix of a traffic source that are in the cache.
    pub fn holds_shared(&self, traffic: u32) -> bool {
        self.trie.iter().any(|(chunk, held)| {
            matches!(chunk, Some(ChunkId::Shared { traffic: t, .. }) if t == traffic)
                && !matches!(held.content, Content::Gone)
        })
    }
}
