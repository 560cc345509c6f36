//! A prefix tree of chunks with a least-recently-used list through it: the shape that a replica's KV cache and a
//! router's memory of recorded calls have in common.
//!
//! A node stands for a chunk and all that comes before it in its chain, so that a look-up by (parent, chunk) is exact:
//! no hash of a path that might collide. Nodes live in a slab; look-ups, touching and removal cost the same however
//! many there are.

use rustc_hash::FxHashMap;

/// The place of a node in the slab.
pub type NodeId = u32;

/// The parent of chunks that begin a chain.
pub const ROOT: NodeId = NodeId::MAX;
const NONE: NodeId = NodeId::MAX;

/// What a chunk is, within its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkId {
    /// The shared prefix of a traffic source, by its length in tokens.
    Shared { traffic: u32, tokens: u64 },
    /// All of a session's own chunks: only that session ever continues them, so they are kept as one run.
    Session(u64),
    /// A block of a recorded call, by its id and length in tokens.
    Block { id: u64, tokens: u64 },
}

struct Node<T> {
    key: Option<(NodeId, ChunkId)>,
    older: NodeId,
    newer: NodeId,
    listed: bool,
    value: T,
}

/// The tree. `T` is what is kept at each node.
pub struct LruTrie<T> {
    nodes: Vec<Node<T>>,
    free: Vec<NodeId>,
    index: FxHashMap<(NodeId, ChunkId), NodeId>,
    oldest: NodeId,
    newest: NodeId,
}

impl<T> Default for LruTrie<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), index: FxHashMap::default(), oldest: NONE, newest: NONE }
    }
}

impl<T> LruTrie<T> {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// The node of a chunk after the node `parent`.
    pub fn find(&self, parent: NodeId, chunk: ChunkId) -> Option<NodeId> {
        self.index.get(&(parent, chunk)).copied()
    }

    /// Adds a node that is not there yet, not in the list of the recently used. Without a chunk it cannot be found.
    pub fn insert(&mut self, parent: NodeId, chunk: Option<ChunkId>, value: T) -> NodeId {
        let node = Node { key: chunk.map(|chunk| (parent, chunk)), older: NONE, newer: NONE, listed: false, value };
        let key = node.key;
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as NodeId
            }
        };
        if let Some(key) = key {
            self.index.insert(key, id);
        }
        id
    }

    /// What is kept at a node.
    pub fn get(&self, id: NodeId) -> &T {
        &self.nodes[id as usize].value
    }

    /// What is kept at a node, to change.
    pub fn get_mut(&mut self, id: NodeId) -> &mut T {
        &mut self.nodes[id as usize].value
    }

    /// Makes a node the most recently used.
    pub fn touch(&mut self, id: NodeId) {
        self.unlist(id);
        let older = self.newest;
        let node = &mut self.nodes[id as usize];
        node.older = older;
        node.newer = NONE;
        node.listed = true;
        self.newest = id;
        match older {
            NONE => self.oldest = id,
            _ => self.nodes[older as usize].newer = id,
        }
    }

    /// Takes a node out of the list of the recently used, if it is in it.
    pub fn unlist(&mut self, id: NodeId) {
        let node = &mut self.nodes[id as usize];
        if !node.listed {
            return;
        }
        node.listed = false;
        let (older, newer) = (node.older, node.newer);
        match older {
            NONE => self.oldest = newer,
            _ => self.nodes[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.nodes[newer as usize].older = older,
        }
    }

    /// The least recently used of the listed nodes.
    pub fn oldest(&self) -> Option<NodeId> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Removes a node. Its children must have gone before.
    pub fn remove(&mut self, id: NodeId) {
        self.unlist(id);
        if let Some(key) = self.nodes[id as usize].key.take() {
            self.index.remove(&key);
        }
        self.free.push(id);
    }

    /// What is kept, with the chunk it is kept for, in the order of the slab: steady from one look to the next.
    pub fn iter(&self) -> impl Iterator<Item = (Option<ChunkId>, &T)> {
        // A free node's key was taken, as an unfindable one's was never there: `T` tells the two apart.
        self.nodes.iter().map(|node| (node.key.map(|(_, chunk)| chunk), &node.value))
    }
}
