//! The play screen: where each panel stands, and the keys that work everywhere on it.

use super::action::{Action, Deeds, Speed};
use super::view::{PlayState, PlayView, Tab, VerdictView};
use super::widgets::word_button;
use super::{brief, charts, help, inspector, palette_strip, share, top_bar, verdict};
use crate::blueprint::{Edit, GRID, PartId};
use crate::canvas::palette;
use egui::{CentralPanel, Color32, Event, Frame, Key, Margin, Panel, Ui, vec2};

/// Below this width the panels fold into tabs.
const NARROW: f32 = 860.0;

/// Draws the fleet into the room that there is, and returns what was done on it.
pub type DrawFleet<'a> = &'a mut dyn FnMut(&mut Ui, &mut PlayState) -> FleetDeeds;

/// What was done on the drawn fleet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetDeeds {
    /// The part that was clicked.
    pub clicked: Option<PartId>,
    /// On a board: changes of the fleet.
    pub edits: Vec<Edit>,
}

/// The whole screen. `canvas` draws the fleet into the room that is left and returns the part that was clicked.
pub fn show(ui: &mut Ui, view: &PlayView, state: &mut PlayState, canvas: DrawFleet) -> Deeds {
    let mut deeds = Deeds::default();
    keys(ui, view, state, &mut deeds);
    // What lies below an open window is not pointed at: else a tooltip would stay over the window.
    let covered = state.help || state.share.is_some() || !matches!(view.verdict, VerdictView::None);
    let pointer = covered.then(|| ui.input_mut(|input| std::mem::take(&mut input.pointer)));
    if ui.available_width() < NARROW {
        narrow(ui, view, state, canvas, &mut deeds);
    } else {
        wide(ui, view, state, canvas, &mut deeds);
    }
    if let Some(pointer) = pointer {
        ui.input_mut(|input| input.pointer = pointer);
    }
    verdict::show(ui.ctx(), view, state, &mut deeds);
    if state.help {
        help::show(ui.ctx(), view, state);
    }
    share::show(ui.ctx(), view, state, &mut deeds);
    deeds
}

/// A frame in a colour with these margins: x, then top and bottom.
fn frame(fill: Color32, x: i8, y: i8) -> Frame {
    Frame::new().fill(fill).inner_margin(Margin::symmetric(x, y))
}

fn wide(ui: &mut Ui, view: &PlayView, state: &mut PlayState, canvas: DrawFleet, deeds: &mut Deeds) {
    let (width, height) = (ui.available_width(), ui.available_height());
    let side = |share: f32, least: f32, most: f32| (width * share).clamp(least, most);
    let top = Panel::top("top bar").resizable(false).exact_size(top_bar::HEIGHT).frame(frame(palette::PANEL, 0, 0));
    top.show(ui, |ui| top_bar::show(ui, view, state, deeds));
    let left = Panel::left("brief").resizable(false).exact_size(side(0.197, 232.0, 300.0));
    left.frame(frame(palette::PANEL, 12, 12)).show(ui, |ui| brief::show(ui, view, state, deeds));
    let right = Panel::right("inspector").resizable(false).exact_size(side(0.232, 288.0, 350.0));
    let inside = Margin { left: 8, right: 2, top: 8, bottom: 8 };
    right
        .frame(Frame::new().fill(palette::PANEL).inner_margin(inside))
        .show(ui, |ui| inspector::show(ui, view, state, deeds));
    let below = Panel::bottom("charts").resizable(false).exact_size((height * 0.245).clamp(150.0, 280.0));
    below.frame(frame(palette::PANEL, 14, 8)).show(ui, |ui| charts::show(ui, view));
    fleet(ui, view, state, canvas, deeds);
}

fn fleet(ui: &mut Ui, view: &PlayView, state: &mut PlayState, canvas: DrawFleet, deeds: &mut Deeds) {
    if view.level.placing {
        let strip = Panel::top("palette").resizable(false).exact_size(palette_strip::height(ui.available_width()));
        strip.frame(frame(palette::PANEL, 10, 8)).show(ui, |ui| palette_strip::show(ui, view, state, deeds));
    }
    CentralPanel::default().frame(frame(palette::GROUND, 0, 0)).show(ui, |ui| {
        let FleetDeeds { clicked, edits } = canvas(ui, state);
        if let Some(part) = clicked {
            state.selected = part;
            state.focus = None;
        }
        edits.into_iter().for_each(|edit| deeds.edit(edit));
        palette_strip::refusal(ui, view);
    });
}

fn narrow(ui: &mut Ui, view: &PlayView, state: &mut PlayState, canvas: DrawFleet, deeds: &mut Deeds) {
    let top = Panel::top("top bar").resizable(false).exact_size(top_bar::TALL).frame(frame(palette::PANEL, 0, 0));
    top.show(ui, |ui| top_bar::show_tall(ui, view, state, deeds));
    let foot = Panel::bottom("tabs").resizable(false).exact_size(46.0).frame(frame(palette::PANEL, 8, 8));
    foot.show(ui, |ui| {
        ui.horizontal(|ui| {
            let width = (ui.available_width() - 8.0 * 3.0) / Tab::ALL.len() as f32;
            for (tab, name) in Tab::ALL {
                if word_button(ui, name, state.tab == tab, width).clicked() {
                    state.tab = tab;
                }
            }
        });
    });
    if state.tab == Tab::Fleet {
        return fleet(ui, view, state, canvas, deeds);
    }
    CentralPanel::default().frame(frame(palette::PANEL, 12, 12)).show(ui, |ui| match state.tab {
        Tab::Brief => brief::show(ui, view, state, deeds),
        Tab::Settings => inspector::show(ui, view, state, deeds),
        Tab::Charts => charts::show(ui, view),
        Tab::Fleet => {}
    });
}

/// The keys that work wherever one is, but not while somebody types, and none but their own while a window is open.
fn keys(ui: &Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let ctx = ui.ctx();
    if ctx.text_edit_focused() {
        return;
    }
    let pressed = |key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key));
    if pressed(Key::M) {
        state.reduced_motion = !state.reduced_motion;
    }
    if state.help || state.share.is_some() {
        return;
    }
    if !matches!(view.verdict, VerdictView::None) {
        if pressed(Key::R) && matches!(view.verdict, VerdictView::Done(_)) {
            deeds.act(Action::Restart);
        }
        return;
    }
    // A control that was clicked does not keep the keyboard; one that was gone to by Tab does.
    if ui.input(|input| input.pointer.any_click() || input.pointer.any_released()) {
        ctx.memory_mut(|memory| memory.stop_text_input());
    }
    // Space and Enter are the focused control's own, if there is one.
    let focus = ctx.memory(|memory| memory.focused()).is_some();
    if pressed(Key::Space) && !focus {
        deeds.act(Action::TogglePause);
    }
    for (key, action) in [
        (Key::Period, Action::StepEvent),
        (Key::R, Action::Restart),
        (Key::N, Action::NextSeed),
        (Key::F, Action::Verdict),
        (Key::V, Action::Verdict),
        (Key::L, Action::Back),
    ] {
        let asked = action != Action::Verdict || !view.level.goals.is_empty();
        if pressed(key) && asked {
            deeds.act(action);
        }
    }
    speeds(ui, view, deeds);
    if pressed(Key::H) && state.hints < view.level.hints.len() {
        state.hints += 1;
        state.tab = Tab::Brief;
    }
    if typed(ui, "?") {
        state.help = true;
    }
    if pressed(Key::S) {
        state.tab = Tab::Settings;
        state.enter_settings = true;
    }
    let command = |key| ui.input(|input| input.modifiers.command && !input.modifiers.shift && input.key_pressed(key));
    if ui.input(|input| input.modifiers.command && input.modifiers.shift && input.key_pressed(Key::Z))
        || command(Key::Y)
    {
        deeds.act(Action::Redo);
    } else if command(Key::Z) {
        deeds.act(Action::Undo);
    }
    if view.level.placing {
        board_keys(ui, view, state, deeds);
    }
    if pressed(Key::OpenBracket) || pressed(Key::CloseBracket) {
        state.selected = neighbour(view, state.selected, pressed(Key::CloseBracket));
        state.focus = None;
        state.choice.only(state.selected);
    }
}

/// The keys that work on a board.
fn board_keys(ui: &Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    state.choice.prune(view.blueprint);
    let pressed = |key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key));
    let command = |key| ui.input(|input| input.modifiers.command && input.key_pressed(key));
    let chosen: Vec<PartId> = state.choice.parts.iter().copied().collect();
    if pressed(Key::Delete) || pressed(Key::Backspace) {
        match state.choice.link {
            Some((from, to)) => deeds.edit(Edit::Unlink { from, to }),
            None if !chosen.is_empty() => deeds.edit(Edit::Delete { parts: chosen.clone() }),
            None => {}
        }
    }
    if command(Key::D) && !chosen.is_empty() {
        deeds.edit(Edit::Duplicate { parts: chosen.clone() });
    }
    if command(Key::A) {
        state.choice.parts = view.blueprint.ids().collect();
    }
    if pressed(Key::Num0) {
        state.fit = true;
    }
    if pressed(Key::K) {
        link_by_key(view, state, deeds);
    }
    // Arrows go from control to control while one has the keyboard.
    let free = ui.memory(|memory| memory.focused().is_none());
    for (key, (x, y)) in
        [(Key::ArrowLeft, (-1, 0)), (Key::ArrowRight, (1, 0)), (Key::ArrowUp, (0, -1)), (Key::ArrowDown, (0, 1))]
    {
        let (hit, far) = ui.input(|input| (input.key_pressed(key), input.modifiers.shift));
        if free && hit && !chosen.is_empty() {
            let step = GRID * if far { 10 } else { 2 };
            deeds.edit(Edit::Move { parts: chosen.clone(), by: (x * step, y * step) });
        }
    }
}

/// First the part that is to send, then the one that it is to send to; where it does already, it does so no more.
fn link_by_key(view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let here = state.selected;
    match state.choice.linking.take() {
        None => state.choice.linking = Some(here),
        Some(from) if view.blueprint.links.contains(&(from, here)) => deeds.edit(Edit::Unlink { from, to: here }),
        Some(from) => deeds.edit(Edit::Link { from, to: here }),
    }
}

fn speeds(ui: &Ui, view: &PlayView, deeds: &mut Deeds) {
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];
    for (key, speed) in digits.into_iter().zip(Speed::ALL) {
        if ui.input(|input| input.modifiers.is_none() && input.key_pressed(key)) {
            deeds.act(Action::SetSpeed(speed));
        }
    }
    // Where these signs lie differs between keyboards: what was typed counts.
    if typed(ui, "+") || typed(ui, "=") {
        deeds.act(Action::SetSpeed(view.speed.next(true)));
    }
    if typed(ui, "-") {
        deeds.act(Action::SetSpeed(view.speed.next(false)));
    }
}

fn typed(ui: &Ui, sign: &str) -> bool {
    ui.input(|input| input.events.iter().any(|event| matches!(event, Event::Text(text) if text == sign)))
}

/// The part before or after this one, over all kinds, upstream first, round and round.
fn neighbour(view: &PlayView, selected: PartId, forward: bool) -> PartId {
    let parts: Vec<PartId> = view.blueprint.ids().collect();
    let place = parts.iter().position(|id| *id == selected).unwrap_or(0);
    let next = if forward { place + 1 } else { (place + parts.len()).saturating_sub(1) };
    next.checked_rem(parts.len()).and_then(|next| parts.get(next).copied()).unwrap_or(selected)
}

/// How much larger than its design everything is drawn in a window of this size: on a large one half of the room it has
/// more goes into larger text, the other half into more room.
pub fn zoom_for(width: f32, height: f32) -> f32 {
    let design = vec2(1280.0, 720.0);
    let room = (width / design.x).min(height / design.y);
    (1.0 + (room - 1.0) * 0.5).clamp(1.0, 2.5)
}
