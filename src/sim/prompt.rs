//! Prompts: chains of chunks.
//!
//! Two prompts share a prefix exactly as far as their chains are equal. A session's chain is its traffic's shared prefix
//! (or not), its own base, then an input and an output for each step; a recorded call's chain is its blocks.

use super::lru_trie::ChunkId;

/// The tokens of a block of a recorded trace; the last one of a call may be shorter.
pub const BLOCK_TOKENS: u64 = 512;

/// The prompt of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prompt {
    /// A session's, at one of its steps.
    Session(SessionPrompt),
    /// A recorded call's blocks.
    Recorded {
        /// The ids of the blocks, each of 512 tokens but for the last.
        blocks: Box<[u64]>,
        /// All its tokens.
        tokens: u64,
    },
}

/// The prompt of a session at a step. The lengths are the session's for its whole life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPrompt {
    /// The session's number, unique in a run.
    pub session: u64,
    /// The shared prefix it starts with: the traffic source and its tokens.
    pub shared: Option<(u32, u64)>,
    /// The lengths of the session's own chunks.
    pub own: OwnChunks,
    /// The step, from 1.
    pub step: u64,
}

/// The lengths in tokens of a session's own chunks: the base, then input and output by turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnChunks {
    /// The base.
    pub base: u64,
    /// A step's input.
    pub input: u64,
    /// A step's output.
    pub output: u64,
}

impl OwnChunks {
    /// The length of the chunk at this place, from 0.
    pub fn length(&self, place: u64) -> u64 {
        match place {
            0 => self.base,
            odd if odd % 2 == 1 => self.input,
            _ => self.output,
        }
    }

    /// The length of the first `count` chunks together.
    pub fn total(&self, count: u64) -> u64 {
        match count {
            0 => 0,
            _ => self.base + (count / 2) * self.input + ((count - 1) / 2) * self.output,
        }
    }
}

impl SessionPrompt {
    /// How many of the session's own chunks the prompt holds: the base, an input for each step so far, and an output for
    /// each step before.
    pub fn own_count(&self) -> u64 {
        2 * self.step
    }

    /// The chunk of the shared prefix.
    pub fn shared_chunk(&self) -> Option<ChunkId> {
        self.shared.map(|(traffic, tokens)| ChunkId::Shared { traffic, tokens })
    }

    /// All its tokens.
    pub fn tokens(&self) -> u64 {
        self.shared.map_or(0, |(_, tokens)| tokens) + self.own.total(self.own_count())
    }
}

/// The chunks of a recorded call, in order.
pub fn block_chunks(blocks: &[u64], tokens: u64) -> impl Iterator<Item = (ChunkId, u64)> + '_ {
    let last = blocks.len().saturating_sub(1);
    blocks.iter().enumerate().map(move |(place, &id)| {
        let length = if place == last { tokens - BLOCK_TOKENS * last as u64 } else { BLOCK_TOKENS };
        (ChunkId::Block { id, tokens: length }, length)
    })
}

impl Prompt {
    /// All its tokens.
    pub fn tokens(&self) -> u64 {
        match self {
            Self::Session(prompt) => prompt.tokens(),
            Self::Recorded { tokens, .. } => *tokens,
        }
    }

    /// Whose prefix this is, for colour.
    pub fn family(&self) -> Family {
        match self {
            Self::Session(SessionPrompt { shared: Some((traffic, _)), .. }) => Family::Shared(*traffic),
            Self::Session(prompt) => Family::Session(prompt.session),
            Self::Recorded { blocks, .. } => Family::Session(blocks.get(1).or(blocks.first()).copied().unwrap_or(0)),
        }
    }
}

/// Whose prefix a chunk or a call belongs to: what the screen gives a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// The shared prefix of a traffic source.
    Shared(u32),
    /// A session's own.
    Session(u64),
}
