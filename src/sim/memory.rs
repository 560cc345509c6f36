//! What a router remembers of who holds what: the home of each shared prefix, and of chains of recorded calls.
//!
//! A session's home on the router is kept with the session.

use super::lru_trie::{LruTrie, NodeId, ROOT};
use super::prompt::block_chunks;
use bevy::prelude::Entity;

/// How many chunks of recorded calls a router remembers; the least recently used is forgotten first.
const MOST_CHUNKS: usize = 1_000_000;

/// A router's memory.
#[derive(Default)]
pub struct Memory {
    /// The home of each shared prefix that has one: traffic source, tokens, replica.
    shared: Vec<((u32, u64), Entity)>,
    /// Chunks of recorded calls, each with the replica that was last sent it.
    sent: LruTrie<Entity>,
}

impl Memory {
    /// The home of a shared prefix.
    pub fn shared_home(&self, prefix: (u32, u64)) -> Option<Entity> {
        self.shared.iter().find(|(known, _)| *known == prefix).map(|(_, home)| *home)
    }

    /// The home of a shared prefix is this replica from now on.
    pub fn set_shared_home(&mut self, prefix: (u32, u64), home: Entity) {
        match self.shared.iter_mut().find(|(known, _)| *known == prefix) {
            Some((_, old)) => *old = home,
            None => self.shared.push((prefix, home)),
        }
    }

    /// The replica that was last sent the longest part of the chain that the router has seen, where that part is at
    /// least half of the prompt.
    pub fn recorded_home(&self, blocks: &[u64], tokens: u64) -> Option<Entity> {
        let (mut parent, mut seen) = (ROOT, 0);
        for (chunk, length) in block_chunks(blocks, tokens) {
            match self.sent.find(parent, chunk) {
                Some(node) => parent = node,
                None => break,
            }
            seen += length;
        }
        (parent != ROOT && 2 * seen >= tokens).then(|| *self.sent.get(parent))
    }

    /// A recorded call was sent to this replica.
    pub fn note_sent(&mut self, blocks: &[u64], tokens: u64, replica: Entity) {
        let mut path: Vec<NodeId> = Vec::with_capacity(blocks.len());
        let mut parent = ROOT;
        for (chunk, _) in block_chunks(blocks, tokens) {
            parent = match self.sent.find(parent, chunk) {
                Some(node) => {
                    *self.sent.get_mut(node) = replica;
                    node
                }
                None => self.sent.insert(parent, Some(chunk), replica),
            };
            path.push(parent);
        }
        // The root last: what comes after a chunk is forgotten before it.
        for &node in path.iter().rev() {
            self.sent.touch(node);
        }
        while self.sent.len() > MOST_CHUNKS {
            let Some(oldest) = self.sent.oldest() else { break };
            self.sent.remove(oldest);
        }
    }

    /// Forgets everything, as a crash does.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}
