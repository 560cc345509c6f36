//! What can be bought for a blank canvas, and what it costs.

use super::{Part, Replica};

/// What can be bought for a blank canvas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// A source of traffic.
    Traffic,
    /// A load balancer.
    Balancer,
    /// An inference router.
    Router,
    /// A model replica.
    Replica,
    /// A model replica with twice the KV cache and twice the prefill speed.
    LargeReplica,
}

impl Piece {
    /// All of them, as the palette shows them.
    pub const ALL: [Self; 5] = [Self::Traffic, Self::Balancer, Self::Router, Self::Replica, Self::LargeReplica];

    /// What it costs in credits. That of the router is fixed by the component page.
    pub const fn credits(self) -> u64 {
        match self {
            Self::Traffic => 0,
            Self::Balancer => 3,
            Self::Router => 8,
            Self::Replica => 10,
            Self::LargeReplica => 18,
        }
    }

    /// What kind of part it is.
    pub const fn part(self) -> Part {
        match self {
            Self::Traffic => Part::Traffic,
            Self::Balancer => Part::Balancer,
            Self::Router => Part::Router,
            Self::Replica | Self::LargeReplica => Part::Replica,
        }
    }

    /// Its name on the screen.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Traffic => "Traffic",
            Self::Balancer => "Load balancer",
            Self::Router => "Inference router",
            Self::Replica => "Replica",
            Self::LargeReplica => "Large replica",
        }
    }
}

impl Replica {
    /// A large replica: one with twice the KV cache and twice the prefill speed.
    pub fn large() -> Self {
        let one = Self::default();
        Self { kv_tokens: 2 * one.kv_tokens, prefill_tokens_per_s: 2.0 * one.prefill_tokens_per_s, large: true, ..one }
    }

    /// One of this size as it is bought.
    pub fn bought(large: bool) -> Self {
        if large { Self::large() } else { Self::default() }
    }

    /// As what it is bought.
    pub const fn piece(&self) -> Piece {
        if self.large { Piece::LargeReplica } else { Piece::Replica }
    }
}
