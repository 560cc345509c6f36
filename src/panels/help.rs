//! The help: the keys, what the picture shows, what the model leaves out, and less motion.

use super::theme;
use super::view::{PlayState, PlayView};
use super::widgets::{main_button, modal, said, scroll_area, section, take_focus};
use crate::canvas::palette;
use crate::sim::LEFT_OUT;
use egui::{Context, FontId, Grid, Ui, vec2};

/// Each key and what it does.
const KEYS: [(&str, &str); 17] = [
    ("Space", "pause, or go on"),
    (".", "step to the next event"),
    ("1 2 3 4 5", "speed: 0.1×, 1×, 8×, 64×, as fast as it goes"),
    ("+  −", "faster, slower"),
    ("R", "again from 0:00, with the settings as they are"),
    ("N", "again with the next seed: another draw of the traffic"),
    ("V or F", "verdict: every seed afresh with these settings"),
    ("H", "a hint"),
    ("Ctrl+Z  Y", "take a change back, make it again"),
    ("[  ]", "previous, next part in the inspector"),
    ("S", "to the settings"),
    ("Tab", "next control; arrows move a slider, in a field digits type a number"),
    ("Esc", "close what is open, leave a field"),
    ("M", "reduced motion, or not"),
    ("L", "back to the list of problems"),
    ("?", "this help"),
    ("wheel", "look closer at the fleet; drag to move, double click for all of it"),
];

/// The keys of a board.
const BOARD_KEYS: [(&str, &str); 7] = [
    ("K", "link from the selected part; go to the other one with [ ], then K again"),
    ("arrows", "move what is chosen; with Shift further"),
    ("Del", "delete what is chosen, or unlink"),
    ("Ctrl+D", "duplicate what is chosen, links included"),
    ("Ctrl+A", "choose everything; Shift and click adds, Shift and drag frames"),
    ("0", "all of the board in view"),
    ("Enter", "on a part of the palette: place it in the middle of the view"),
];

/// What the signs of the picture mean that its legend has no room for.
const SIGNS: [(&str, &str); 10] = [
    ("full dot", "a call whose prefix the replica holds: most of its prompt is found"),
    ("hollow dot", "not found: a full prefill"),
    ("gold", "carries the shared prefix; each session has a colour of its own"),
    ("ring of a replica", "load: the busier of prefill lane and slots; marks at 50, 70, 90 %"),
    ("ring of the router", "the busy share of its cores"),
    ("sticky", "sent to its home: where its prefix is"),
    ("first", "no home yet: sent to the least busy replica, now its home"),
    ("spill", "too many waited at its home: sent to the least busy replica"),
    ("turn", "sent round robin, whoever holds its prefix"),
    ("random, least", "sent to any replica, to the least busy one: other policies"),
];

/// The help over everything else.
pub fn show(ctx: &Context, view: &PlayView, state: &mut PlayState) {
    let room = ctx.content_rect().size();
    let response = modal(ctx, "help", 580.0, |ui| {
        ui.label(said("Keys", theme::strong(18.0), palette::TEXT));
        ui.add_space(4.0);
        scroll_area(room.y - 190.0).show(ui, |ui| {
            // The scroll bar has its own room.
            ui.set_max_width(ui.available_width() - 16.0);
            pairs(ui, "keys", 84.0, theme::mono(12.0), &KEYS);
            if view.level.placing {
                ui.add_space(10.0);
                section(ui, "On the board");
                pairs(ui, "board keys", 84.0, theme::mono(12.0), &BOARD_KEYS);
            }
            ui.add_space(10.0);
            section(ui, "What the picture shows");
            pairs(ui, "signs", 112.0, theme::text(12.0), &SIGNS);
            ui.add_space(10.0);
            left_out(ui);
        });
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let close = main_button(ui, "Close");
            take_focus(&close);
            ui.add_space(8.0);
            ui.checkbox(&mut state.reduced_motion, "Reduced motion").on_hover_text("Nothing flies on the canvas  (M)");
            close.clicked()
        })
        .inner
    });
    state.help = !response.inner && !response.should_close();
}

/// Two columns: a word, and what it means, which wraps where the window is narrow.
fn pairs(ui: &mut Ui, id: &str, first: f32, font: FontId, pairs: &[(&str, &str)]) {
    let spacing = 16.0;
    let second = (ui.available_width() - first - spacing).max(80.0);
    Grid::new(id).num_columns(2).min_col_width(first).spacing(vec2(spacing, 5.0)).show(ui, |ui| {
        for (word, meaning) in pairs {
            ui.label(said(*word, font.clone(), palette::TEXT));
            ui.vertical(|ui| {
                ui.set_max_width(second);
                ui.label(said(*meaning, theme::text(12.0), palette::DIM));
            });
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
