//! The panels: everything that is read and set beside the canvas.
//!
//! A panel is a plain function from a snapshot ([`PlayView`]) to what is drawn, and hands back what the person did
//! ([`Deeds`]). None of them knows of Bevy's world, so that tests drive them as a person would.

mod action;
mod board_part;
mod brief;
mod canvas_brief;
mod charts;
mod components;
mod decisions;
mod help;
mod inspector;
mod levels;
mod palette_strip;
mod play;
mod quantity;
mod rules;
mod schematic;
mod setting_row;
mod share;
mod theme;
mod top_bar;
mod verdict;
mod view;
mod widgets;

pub use action::{Action, Deeds, Keep, PlayerEdit, Speed};
pub use components::{ComponentsState, ComponentsView, show as show_components};
pub use levels::{LevelsView, show as show_levels};
pub use play::{DrawFleet, FleetDeeds, show as show_play, zoom_for};
pub use share::{ShareState, ShareView};
pub use theme::{install as install_theme, warm_up};
pub use view::{
    Mark, Measures, PlayState, PlayView, ReplicaMeasure, RouterMeasure, Series, Tab, VerdictView, change_text,
};
