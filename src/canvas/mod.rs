//! The canvas: the fleet drawn.

pub mod palette;
