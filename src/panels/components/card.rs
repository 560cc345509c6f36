//! A part's card: what it does and costs, what is worth knowing, its settings, the problems that start with it.

use super::{ComponentsState, ComponentsView, demo, glyph, words};
use crate::canvas::palette;
use crate::level::{Component, ComponentSetting, Level, Note, NoteKind};
use crate::panels::action::{Action, Deeds};
use crate::panels::widgets::{focus_ring, goal_sign, said, section};
use crate::panels::{schematic, theme};
use egui::{
    Align, Align2, Color32, Frame, Label, Layout, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, pos2,
    vec2,
};

/// From this width on a claim and its demo stand beside each other.
const BESIDE: f32 = 760.0;
/// Space between columns.
const GAP: f32 = 24.0;

/// The whole card.
pub fn show(ui: &mut Ui, view: &ComponentsView, card: &Component, state: &mut ComponentsState, deeds: &mut Deeds) {
    ui.set_width(ui.available_width());
    ui.spacing_mut().item_spacing.y = 6.0;
    head(ui, card);
    ui.add_space(8.0);
    paragraph(ui, &card.does, 13.5, palette::TEXT, 740.0);
    for note in card.notes.iter().filter(|note| note.demo.is_some()) {
        ui.add_space(20.0);
        shown(ui, view, note, state, deeds);
    }
    let told: Vec<&Note> = card.notes.iter().filter(|note| note.demo.is_none()).collect();
    if !told.is_empty() {
        ui.add_space(20.0);
        columns(ui, told.len().min(3), 230.0, &told, |ui, note| note_text(ui, note));
    }
    ui.add_space(24.0);
    section(ui, "Settings");
    ui.add_space(2.0);
    columns(ui, 2, 320.0, &card.settings, setting);
    if !card.problems.is_empty() {
        ui.add_space(22.0);
        section(ui, "Problems that start with it");
        ui.add_space(2.0);
        let known = card.problems.iter().filter_map(|id| view.levels.iter().position(|level| level.id == *id));
        let known: Vec<usize> = known.collect();
        columns(ui, 2, 320.0, &known, |ui, &place| problem(ui, view, place, deeds));
    }
}

/// Sign, name, zone, and the price.
fn head(ui: &mut Ui, card: &Component) {
    let narrow = ui.available_width() < 480.0;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        let (rect, _) = ui.allocate_exact_size(vec2(40.0, 40.0), Sense::hover());
        glyph::draw(ui.painter(), rect.center(), 18.0, card);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 3.0;
            let size = if narrow { 16.0 } else { 20.0 };
            ui.label(said(&card.name, theme::strong(size), palette::TEXT));
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = 14.0;
                if let Some(zone) = &card.zone {
                    ui.label(said(format!("zone {zone}"), theme::mono(12.0), palette::DECODE));
                }
                let price = if card.piece.credits() == 0 {
                    "0 credits".to_owned()
                } else {
                    words::credits(card.piece.credits())
                };
                ui.label(said(price, theme::mono_strong(12.5), palette::GOLD));
                let where_to = if card.piece.credits() == 0 {
                    "free everywhere"
                } else {
                    "where you place it, free where a problem gives it"
                };
                ui.label(said(where_to, theme::text(12.0), palette::DIM));
            });
        });
    });
}

fn paragraph(ui: &mut Ui, text: &str, size: f32, colour: Color32, widest: f32) {
    // A number and its unit stay together.
    let text = text.replace(" %", "\u{a0}%");
    ui.scope(|ui| {
        ui.set_max_width(ui.available_width().min(widest));
        ui.add(Label::new(said(text, theme::text(size), colour).line_height(Some((size * 1.5).round()))).wrap());
    });
}

fn note_text(ui: &mut Ui, note: &Note) {
    let (heading, colour) = match note.kind {
        NoteKind::DidYouKnow => ("Did you know", palette::DECODE),
        NoteKind::RuleOfThumb => ("Rule of thumb", palette::GOOD),
        NoteKind::WatchOut => ("Watch out", palette::WARN),
    };
    ui.spacing_mut().item_spacing.y = 6.0;
    ui.label(said(heading, theme::strong(13.0), colour));
    paragraph(ui, &note.says, 13.0, palette::TEXT, 740.0);
}

/// A claim, and beside it what shows it.
fn shown(ui: &mut Ui, view: &ComponentsView, note: &Note, state: &mut ComponentsState, deeds: &mut Deeds) {
    let Some(place) = note.demo else { return };
    let width = ui.available_width();
    let mut frame = |ui: &mut Ui| {
        let frame = Frame::new().fill(palette::GROUND).stroke(Stroke::new(1.0, palette::LINE)).corner_radius(8.0);
        let margin = if width < BESIDE { 12 } else { 18 };
        let shown = frame.inner_margin(margin).show(ui, |ui| {
            ui.set_width(ui.available_width());
            demo::show(ui, view, place, deeds);
            if width < BESIDE {
                demo::fleet(ui, &view.page.demos[place]);
            }
        });
        state.on_screen[place] = super::on_screen(ui, shown.response.rect);
    };
    if width < BESIDE {
        note_text(ui, note);
        ui.add_space(4.0);
        frame(ui);
        return;
    }
    let text = (width * 0.29).clamp(230.0, 300.0);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        part(ui, text, |ui| {
            note_text(ui, note);
            ui.add_space(8.0);
            demo::fleet(ui, &view.page.demos[place]);
        });
        ui.add_space(GAP);
        part(ui, width - text - GAP, &mut frame);
    });
}

/// A column of this width.
fn part(ui: &mut Ui, width: f32, fill: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(vec2(width, 0.0), Layout::top_down(Align::LEFT), |ui| {
        ui.set_width(width);
        fill(ui);
    });
}

/// Things in up to so many columns, each at least this wide, row by row.
fn columns<T>(ui: &mut Ui, most: usize, least: f32, things: &[T], mut show: impl FnMut(&mut Ui, &T)) {
    let room = ui.available_width();
    let count = (((room + GAP) / (least + GAP)) as usize).clamp(1, most.max(1));
    let width = (room - GAP * (count as f32 - 1.0)) / count as f32;
    for (row, things) in things.chunks(count).enumerate() {
        if row > 0 {
            ui.add_space(8.0);
        }
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            for thing in things {
                part(ui, width, |ui| show(ui, thing));
            }
        });
    }
}

/// A setting: its name, what the part comes with, what it does, and what it takes.
fn setting(ui: &mut Ui, row: &ComponentSetting) {
    ui.spacing_mut().item_spacing.y = 3.0;
    let line = ui.available_rect_before_wrap();
    ui.painter().hline(line.x_range(), line.top(), Stroke::new(1.0, palette::LINE));
    ui.add_space(7.0);
    ui.horizontal(|ui| {
        ui.label(said(row.setting.name, theme::strong(12.5), palette::TEXT));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let value = words::value(row.setting, row.value);
            ui.label(said(value, theme::mono(12.5), palette::TEXT)).on_hover_text("What it comes with");
        });
    });
    paragraph(ui, row.setting.help, 12.0, palette::DIM, 740.0);
    let fixed = if row.fixed { "  ·  fixed on the blank canvas" } else { "" };
    ui.label(said(words::range(row.setting) + fixed, theme::text(11.0), palette::FAINT));
}

/// A problem to open.
fn problem(ui: &mut Ui, view: &ComponentsView, place: usize, deeds: &mut Deeds) {
    let level = &view.levels[place];
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 84.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &level.title));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    let (fill, edge) = if response.hovered() {
        (palette::CARD_HOVER, palette::DECODE.gamma_multiply(0.6))
    } else {
        (palette::CARD, palette::LINE)
    };
    let painter = ui.painter_at(rect.expand(2.0));
    painter.rect(rect, 8.0, fill, Stroke::new(1.0, edge), StrokeKind::Inside);
    painter.rect_stroke(rect, 8.0, focus_ring(&response), StrokeKind::Inside);
    let won = view.progress.levels.get(&level.id).is_some_and(|known| known.won);
    let picture = if rect.width() > 420.0 { 206.0 } else { 0.0 };
    let text = Rect::from_min_max(rect.min + vec2(16.0, 12.0), rect.max - vec2(16.0 + picture, 10.0));
    problem_text(&painter, text, level, won);
    if picture > 0.0 {
        let room =
            Rect::from_min_max(pos2(rect.right() - picture + 8.0, rect.top() + 12.0), rect.max - vec2(16.0, 12.0));
        schematic::draw(&painter, room, &level.blueprint);
    }
    if response.clicked() {
        deeds.act(Action::OpenLevel(place));
    }
}

fn problem_text(painter: &egui::Painter, room: Rect, level: &Level, won: bool) {
    let at = pos2(room.left(), room.top() + 8.0);
    let title = painter.text(at, Align2::LEFT_CENTER, &level.title, theme::strong(13.5), palette::TEXT);
    if won {
        goal_sign(painter, pos2(title.right() + 14.0, at.y), true, 6.0);
    }
    let brief = level.brief.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut job = egui::text::LayoutJob::simple(brief, theme::text(12.0), palette::DIM, room.width());
    job.wrap.max_rows = 2;
    job.sections.iter_mut().for_each(|section| section.format.line_height = Some(17.0));
    let galley = painter.layout_job(job);
    painter.galley(pos2(room.left(), room.top() + 23.0), galley, palette::DIM);
}
