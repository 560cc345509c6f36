//! The component page: a card for each part, and beside each claim the fleet that shows it.

mod card;
mod curve;
mod demo;
mod glyph;
mod words;

use super::action::{Action, Deeds};
use super::theme;
use super::widgets::{Icon, focus_ring, icon_button, said};
use crate::blueprint::Part;
use crate::canvas::palette;
use crate::level::{Component, Components, Demo, DemoRun, Level, Progress};
use egui::{
    Align, Align2, CentralPanel, Color32, Frame, Key, Label, Layout, Margin, Panel, Rect, ScrollArea, Sense, Stroke,
    StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

/// Below this width the index of the parts has no room.
const NARROW: f32 = 860.0;
/// How wide the index is.
const INDEX: f32 = 216.0;
/// How wide the page gets at most.
const WIDEST: f32 = 1060.0;

/// What the page shows.
pub struct ComponentsView<'a> {
    /// Its texts and its fleets.
    pub page: &'a Components,
    /// The levels, to which it leads.
    pub levels: &'a [Level],
    /// What is remembered of them.
    pub progress: &'a Progress,
    /// How far each of [`Components::demos`] has come; none for one that has not begun.
    pub demos: &'a [Option<DemoRun>],
}

/// What the page remembers from frame to frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentsState {
    /// Which of [`Components::demos`] are on the screen.
    pub on_screen: Vec<bool>,
    /// The part that is at the top of the window.
    pub here: usize,
    /// The part to go to.
    go_to: Option<usize>,
    /// How far to scroll, in points.
    scroll: f32,
}

/// The whole screen.
pub fn show(ui: &mut Ui, view: &ComponentsView, state: &mut ComponentsState) -> Deeds {
    let mut deeds = Deeds::default();
    state.on_screen.clear();
    state.on_screen.resize(view.page.demos.len(), false);
    keys(ui, view, state, &mut deeds);
    let wide = ui.available_width() >= NARROW;
    let bar = Panel::top("components top").resizable(false).exact_size(44.0);
    bar.frame(Frame::new().fill(palette::PANEL)).show(ui, |ui| top(ui, view, state, wide, &mut deeds));
    if wide {
        let index = Panel::left("components index").resizable(false).exact_size(INDEX);
        let frame = Frame::new().fill(palette::PANEL).inner_margin(Margin::symmetric(10, 14));
        index.frame(frame).show(ui, |ui| list(ui, view, state));
    }
    CentralPanel::default().frame(Frame::new().fill(palette::GROUND)).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.scroll_with_delta(vec2(0.0, std::mem::take(&mut state.scroll)));
            let room = ui.available_width();
            let edge = if wide { 24.0 } else { 10.0 };
            let width = (room - 2.0 * edge).min(WIDEST);
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                ui.add_space((room - width) / 2.0);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    cards(ui, view, state, &mut deeds);
                });
            });
        });
    });
    deeds
}

/// The way back and the title; where the index has no room, its signs.
fn top(ui: &mut Ui, view: &ComponentsView, state: &mut ComponentsState, wide: bool, deeds: &mut Deeds) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add_space(8.0);
        let back = icon_button(ui, Icon::Back, "Back to the problems", vec2(26.0, 26.0));
        if back.on_hover_text("Back to the problems  (Esc)").clicked() {
            deeds.act(Action::Back);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            ui.add_space(8.0);
            let count = if wide { 0 } else { view.page.cards.len() };
            for place in (0..count).rev() {
                if sign(ui, &view.page.cards[place], state.here == place) {
                    state.go_to = Some(place);
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(Label::new(said(&view.page.title, theme::strong(14.0), palette::TEXT)).truncate());
            });
        });
    });
}

/// A part of the index as its sign alone.
fn sign(ui: &mut Ui, card: &Component, here: bool) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(30.0, 30.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, in_index(card)));
    let fill = if here || response.hovered() { palette::CARD } else { Color32::TRANSPARENT };
    ui.painter().rect(rect, 6.0, fill, focus_ring(&response), StrokeKind::Inside);
    glyph::draw(ui.painter(), rect.center(), 8.5, card);
    response.on_hover_text(&card.name).clicked()
}

/// What a part is called in the index.
fn in_index(card: &Component) -> String {
    format!("{}, {}", card.piece.name(), words::credits(card.piece.credits()))
}

/// The index: every part with its price.
fn list(ui: &mut Ui, view: &ComponentsView, state: &mut ComponentsState) {
    ui.spacing_mut().item_spacing.y = 4.0;
    for (place, card) in view.page.cards.iter().enumerate() {
        if entry(ui, card, place, state.here == place) {
            state.go_to = Some(place);
        }
    }
    ui.with_layout(Layout::bottom_up(Align::LEFT), |ui| {
        for line in ["Esc  back", "R  run again", "PgUp  PgDn  scroll", "1 to 5  to a part"] {
            ui.label(said(line, theme::text(11.0), palette::FAINT));
        }
    });
}

fn entry(ui: &mut Ui, card: &Component, place: usize, here: bool) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 40.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, in_index(card)));
    let fill = match (here, response.hovered()) {
        (true, _) => palette::CARD,
        (false, true) => palette::CARD.gamma_multiply(0.6),
        _ => Color32::TRANSPARENT,
    };
    let painter = ui.painter_at(rect);
    painter.rect(rect, 6.0, fill, focus_ring(&response), StrokeKind::Inside);
    if here {
        let mark = Rect::from_min_size(rect.left_top() + vec2(0.0, 10.0), vec2(2.0, 20.0));
        painter.rect_filled(mark, 1.0, palette::DECODE);
    }
    let colour = if here { palette::TEXT } else { palette::DIM };
    glyph::draw(&painter, pos2(rect.left() + 22.0, rect.center().y), 9.0, card);
    painter.text(
        rect.left_center() + vec2(42.0, 0.0),
        Align2::LEFT_CENTER,
        card.piece.name(),
        theme::strong(12.5),
        colour,
    );
    let price = format!("{} cr", card.piece.credits());
    let at = rect.right_center() - vec2(10.0, 0.0);
    painter.text(at, Align2::RIGHT_CENTER, price, theme::mono(12.0), palette::GOLD.gamma_multiply(0.9));
    response.on_hover_text(format!("{}  ({})", card.name, place + 1)).clicked()
}

fn cards(ui: &mut Ui, view: &ComponentsView, state: &mut ComponentsState, deeds: &mut Deeds) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let window = ui.clip_rect();
    let mut here = 0;
    ui.add_space(18.0);
    for (place, card) in view.page.cards.iter().enumerate() {
        let start = ui.cursor().min;
        if start.y < window.top() + window.height() * 0.4 {
            here = place;
        }
        if state.go_to == Some(place) {
            state.go_to = None;
            let above = Rect::from_min_size(start - vec2(0.0, 18.0), vec2(1.0, 1.0));
            ui.scroll_to_rect(above, Some(Align::TOP));
        }
        let narrow = ui.available_width() < 700.0;
        let frame = Frame::new().fill(palette::PANEL).stroke(Stroke::new(1.0, palette::LINE)).corner_radius(10.0);
        frame.inner_margin(if narrow { 14 } else { 24 }).show(ui, |ui| card::show(ui, view, card, state, deeds));
        ui.add_space(18.0);
    }
    // At the end of the page the last part may be too low to count.
    let below = ui.cursor().min.y <= window.bottom() + 1.0;
    state.here = if below && here > 0 { view.page.cards.len() - 1 } else { here };
}

/// The keys of the page.
fn keys(ui: &Ui, view: &ComponentsView, state: &mut ComponentsState, deeds: &mut Deeds) {
    let pressed = |key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key));
    if pressed(Key::Escape) || pressed(Key::L) {
        deeds.act(Action::Back);
    }
    if pressed(Key::R) {
        for (place, demo) in view.page.demos.iter().enumerate() {
            if matches!(demo, Demo::SideBySide(_)) {
                deeds.act(Action::RestartDemo(place));
            }
        }
    }
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];
    for (place, key) in digits.into_iter().take(view.page.cards.len()).enumerate() {
        if pressed(key) {
            state.go_to = Some(place);
        }
    }
    // Arrows and Space are the focused control's own, if there is one.
    let free = ui.ctx().memory(|memory| memory.focused().is_none());
    let page = ui.available_height() * 0.8;
    for (key, by, always) in [
        (Key::PageDown, -page, true),
        (Key::PageUp, page, true),
        (Key::Home, 1e6, true),
        (Key::End, -1e6, true),
        (Key::Space, -page, false),
        (Key::ArrowDown, -60.0, false),
        (Key::ArrowUp, 60.0, false),
    ] {
        if pressed(key) && (always || free) {
            state.scroll += by;
        }
    }
}

/// Is at least half of this on the screen?
fn on_screen(ui: &Ui, rect: Rect) -> bool {
    let window = ui.clip_rect();
    let seen = rect.intersect(window).height();
    seen >= rect.height().min(window.height()) * 0.5
}

/// The colour of a kind of part.
fn accent(part: Part) -> Color32 {
    match part {
        Part::Traffic => palette::DIM,
        Part::Balancer => palette::TEXT,
        Part::Router => palette::DECODE,
        Part::Replica => palette::GOOD,
    }
}
