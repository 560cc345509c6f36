//! The bar at the top of the play screen: the title, time, the verdict.

use super::action::{Action, Deeds, Keep, Speed};
use super::theme;
use super::view::{PlayState, PlayView, change_text};
use super::widgets::{self, Icon, icon_button, said, word_button};
use crate::canvas::palette;
use crate::sim::seconds;
use egui::{Align, Layout, Sense, Ui, UiBuilder, WidgetInfo, WidgetType, pos2, vec2};

/// How high the bar is.
pub const HEIGHT: f32 = 44.0;
/// How high it is on a narrow window, in two rows.
pub const TALL: f32 = 84.0;

/// The bar in one row.
pub fn show(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let rect = ui.max_rect();
    let controls = (rect.left() + (rect.width() - 430.0) * 0.6).max(rect.left() + 300.0);
    let mut part = |left: f32, right: f32, layout: Layout, fill: &mut dyn FnMut(&mut Ui)| {
        let room = egui::Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
        ui.scope_builder(UiBuilder::new().max_rect(room).layout(layout), |ui| fill(ui));
    };
    let undo = controls - 76.0;
    part(rect.left() + 8.0, undo - 8.0, Layout::left_to_right(Align::Center), &mut |ui| heading(ui, view, deeds));
    part(undo, controls, Layout::left_to_right(Align::Center), &mut |ui| undo_redo(ui, view, deeds));
    part(controls, controls + 440.0, Layout::left_to_right(Align::Center), &mut |ui| time_controls(ui, view, deeds));
    part(rect.left() + 300.0, rect.right() - 12.0, Layout::right_to_left(Align::Center), &mut |ui| {
        standing(ui, view, state, deeds);
    });
}

/// The bar in two rows, for a narrow window.
pub fn show_tall(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.set_height(32.0);
        ui.add_space(6.0);
        icon_back(ui, deeds);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(6.0);
            help(ui, state);
            if !view.level.placing {
                // On a board it stands beside the palette.
                share(ui, view, state, deeds);
            }
            ui.add_space(4.0);
            clock(ui, view, false);
            ui.add_space(8.0);
            ui.scope(|ui| {
                ui.set_width(60.0);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| undo_redo(ui, view, deeds));
            });
            ui.add_space(4.0);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let title = said(&view.level.title, theme::strong(13.5), palette::TEXT);
                ui.add(egui::Label::new(title).truncate());
            });
        });
    });
    ui.horizontal(|ui| {
        ui.set_height(32.0);
        ui.add_space(6.0);
        ui.spacing_mut().item_spacing.x = 3.0;
        time_controls(ui, view, deeds);
    });
}

fn heading(ui: &mut Ui, view: &PlayView, deeds: &mut Deeds) {
    icon_back(ui, deeds);
    let title = said(&view.level.title, theme::strong(14.0), palette::TEXT);
    ui.add(egui::Label::new(title).truncate());
}

/// Takes changes back and makes them again, each saying which.
fn undo_redo(ui: &mut Ui, view: &PlayView, deeds: &mut Deeds) {
    ui.spacing_mut().item_spacing.x = 4.0;
    for (icon, name, change, action, key) in [
        (Icon::Undo, "Undo", view.undoable, Action::Undo, "Ctrl+Z"),
        (Icon::Redo, "Redo", view.redoable, Action::Redo, "Ctrl+Y"),
    ] {
        ui.add_enabled_ui(change.is_some(), |ui| {
            let button = icon_button(ui, icon, name, vec2(28.0, 26.0));
            let words = change.map_or_else(String::new, |change| format!("{name}: {}  ({key})", change_text(change)));
            if button.on_hover_text(words).clicked() {
                deeds.act(action);
            }
        });
    }
}

fn icon_back(ui: &mut Ui, deeds: &mut Deeds) {
    if icon_button(ui, Icon::Back, "Back to the problems", vec2(26.0, 26.0))
        .on_hover_text("Back to the problems  (L)")
        .clicked()
    {
        deeds.act(Action::Back);
    }
}

fn time_controls(ui: &mut Ui, view: &PlayView, deeds: &mut Deeds) {
    let tight = ui.available_width() < 400.0;
    ui.spacing_mut().item_spacing.x = 4.0_f32.min(ui.spacing().item_spacing.x);
    ui.spacing_mut().button_padding.x = if tight { 2.0 } else { 4.0 };
    let (icon_width, speed_width, verdict_width) = if tight { (26.0, 28.0, 54.0) } else { (32.0, 40.0, 74.0) };
    let (icon, name) = if view.paused { (Icon::Play, "Run") } else { (Icon::Pause, "Pause") };
    if icon_button(ui, icon, name, vec2(icon_width, 26.0)).on_hover_text(format!("{name}  (Space)")).clicked() {
        deeds.act(Action::TogglePause);
    }
    if icon_button(ui, Icon::Step, "Step", vec2(icon_width, 26.0)).on_hover_text("To the next event  (.)").clicked() {
        deeds.act(Action::StepEvent);
    }
    let restart = icon_button(ui, Icon::Restart, "Restart", vec2(icon_width, 26.0));
    if restart.on_hover_text("Again from 0:00 with these settings  (R)").clicked() {
        deeds.act(Action::Restart);
    }
    ui.add_space(ui.spacing().item_spacing.x * 1.5);
    for (place, speed) in Speed::ALL.into_iter().enumerate() {
        let hint = format!("{} real time  ({})", speed.label(), place + 1);
        let button = word_button(ui, speed.label(), speed == view.speed, speed_width);
        let hint = if speed == Speed::Max { "As fast as it goes  (5)".into() } else { hint };
        if button.on_hover_text(hint).clicked() {
            deeds.act(Action::SetSpeed(speed));
        }
    }
    ui.add_space(ui.spacing().item_spacing.x * 1.5);
    if view.level.goals.is_empty() {
        return;
    }
    let button = word_button(ui, "Verdict", view.over, verdict_width);
    if button.on_hover_text("Every seed afresh with these settings  (V)").clicked() {
        deeds.act(Action::Verdict);
    }
}

/// Clock, seed and credits, from the right.
fn standing(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    help(ui, state);
    ui.add_space(4.0);
    share(ui, view, state, deeds);
    if !view.level.placing {
        ui.add_space(4.0);
        let credits = format!("{} cr", view.credits);
        let spent = ui.label(said(credits, theme::mono_strong(12.5), palette::GOLD));
        spent.on_hover_text("Credits spent on what you added");
    }
    ui.add_space(8.0);
    if ui.available_width() > 660.0 {
        seed(ui, view, deeds);
        ui.add_space(8.0);
    }
    clock(ui, view, true);
}

fn share(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let button = icon_button(ui, Icon::Share, "Save and share", vec2(26.0, 26.0));
    if button.on_hover_text("Save by name, export, import").clicked() {
        open_share(view, state, deeds);
    }
}

/// Opens the window that saves and shares; time stands still meanwhile.
pub fn open_share(view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    state.share = Some(Default::default());
    deeds.keep(Keep::Begin);
    if !view.paused {
        deeds.act(Action::TogglePause);
    }
}

fn help(ui: &mut Ui, state: &mut PlayState) {
    if icon_button(ui, Icon::Help, "Help", vec2(26.0, 26.0))
        .on_hover_text("Keys, and what the model leaves out  (?)")
        .clicked()
    {
        state.help = true;
    }
}

fn seed(ui: &mut Ui, view: &PlayView, deeds: &mut Deeds) {
    let (which, of) = view.seed;
    let text = format!("seed {which} of {of}");
    let colour = if of > 1 { palette::DIM } else { palette::FAINT };
    let label = egui::Label::new(said(text, theme::text(11.5), colour)).sense(Sense::click());
    let response = ui.add(label);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, of > 1, format!("Seed {which} of {of}")));
    if response.on_hover_text("A seed is one draw of the traffic. Click: again with the next one  (N)").clicked() {
        deeds.act(Action::NextSeed);
    }
}

fn clock(ui: &mut Ui, view: &PlayView, with_end: bool) {
    let now = widgets::clock(seconds(view.now));
    let end = widgets::clock(view.level.seconds);
    let end = end.split('.').next().unwrap_or_default();
    ui.spacing_mut().item_spacing.x = 0.0;
    if with_end {
        ui.label(said(format!("/ {end}"), theme::mono(12.5), palette::FAINT));
        ui.add_space(7.0);
    }
    let colour = if view.paused { palette::GOLD } else { palette::TEXT };
    ui.label(said(now, theme::mono(12.5), colour)).on_hover_text(if view.paused { "Paused" } else { "Simulated time" });
}
