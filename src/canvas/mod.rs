//! The canvas: the fleet drawn.

pub mod figures;
pub mod palette;
