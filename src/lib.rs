//! Warmpath: a game-like sandbox for learning how a KV-aware inference router works.
//!
//! One direction: a level or the player describes a fleet ([`blueprint`]), the simulation ([`sim`]) runs it, and reports,
//! goals, charts and the canvas observe it. The rooms up to [`cli`] need no renderer.

pub mod blueprint;
#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
pub mod level;
pub mod sim;

#[cfg(feature = "window")]
pub mod app;
#[cfg(feature = "window")]
pub mod canvas;
#[cfg(feature = "window")]
pub mod panels;
#[cfg(all(feature = "window", target_arch = "wasm32"))]
pub mod web;
