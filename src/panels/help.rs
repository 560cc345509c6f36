//! The help: the keys, and what the model leaves out.

use super::theme;
use super::widgets::{main_button, modal, said, section};
use crate::canvas::palette;
use crate::sim::LEFT_OUT;
use egui::{Context, Grid, ScrollArea, Ui, vec2};

/// Each key and what it does.
const KEYS: [(&str, &str); 13] = [
    ("Space", "pause, or go on"),
    (".", "step to the next event"),
    ("1 2 3 4 5", "speed: 0.1×, 1×, 8×, 64×, as fast as it goes"),
    ("+  −", "faster, slower"),
    ("R", "again from 0:00, with the settings as they are"),
    ("N", "again with the next seed: another draw of the traffic"),
    ("V or F", "verdict: every seed afresh with these settings"),
    ("H", "a hint"),
    ("[  ]", "previous, next part in the inspector"),
    ("Tab", "next control; arrows move a slider, digits type a number"),
    ("Esc", "close what is open, leave a field"),
    ("L", "back to the list of problems"),
    ("?", "this help"),
];

/// The help over everything else. Returns whether it stays open.
pub fn show(ctx: &Context) -> bool {
    let room = ctx.content_rect().size();
    let mut open = true;
    let response = modal(ctx, "help", 540.0, |ui| {
        ui.label(said("Keys", theme::strong(18.0), palette::TEXT));
        ui.add_space(4.0);
        ScrollArea::vertical().max_height(room.y - 190.0).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 10.0);
            keys(ui);
            ui.add_space(10.0);
            left_out(ui);
        });
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            if main_button(ui, "Close").clicked() {
                open = false;
            }
        });
    });
    open && !response.should_close()
}

fn keys(ui: &mut Ui) {
    Grid::new("keys").num_columns(2).spacing(vec2(20.0, 5.0)).show(ui, |ui| {
        for (key, does) in KEYS {
            ui.label(said(key, theme::mono(12.0), palette::TEXT));
            ui.label(said(does, theme::text(12.0), palette::DIM));
            ui.end_row();
        }
    });
}

/// What the model leaves out.
pub fn left_out(ui: &mut Ui) {
    section(ui, "What this model leaves out");
    for line in LEFT_OUT {
        ui.label(said(*line, theme::text(12.0), palette::DIM));
    }
}
