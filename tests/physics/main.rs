//! The physics of the sandbox, held from outside to what `model.md` promises: queueing theory, exact accounting, a second
//! engine written from the text alone, and hand-made scenarios with times worked out on paper.

#![allow(clippy::unwrap_used, missing_docs)]

mod accounting;
mod changes;
mod digests;
mod fleets;
mod littles_law;
mod naive;
mod queueing;
mod scenarios;
mod settings;
mod trace;
