//! The canvas: the fleet drawn, with egui's painter.
//!
//! [`FleetPicture`] copies what is drawn out of a run; [`Canvas`] keeps what lives between frames and draws it. It only
//! looks: nothing that it does changes the run.
//!
//! - `picture` and `kv_bar`: the snapshot.
//! - `layout` and `links`: where things stand, as pure functions.
//! - `flow`, `load` and `flight`: rates, smoothed loads, dots and rejections.
//! - `brush` and the `draw_` modules: how each part looks. `view` puts them together, `camera` looks closer.
//! - `board`: what a hand does on a fleet that is being drawn.
//! - `figures` and `palette` belong to the whole program.

mod board;
mod brush;
mod camera;
mod draw_replica;
mod draw_upstream;
mod draw_words;
pub mod figures;
mod flight;
mod flow;
mod kv_bar;
mod layout;
mod links;
mod load;
pub mod palette;
mod picture;
mod view;

pub use board::{Choice, Draft};
pub use draw_words::{chip as decision_chip, reason as decision_reason};
pub use kv_bar::{CELLS, KvBlock, Owner};
pub use picture::{
    BalancerPicture, FleetPicture, LinkPicture, MOST_NAMED, ReplicaPicture, RouterPicture, SharedPrefix, TrafficPicture,
};
pub use view::{Canvas, CanvasResponse};
