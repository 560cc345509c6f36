//! The list of problems to choose from.

use super::action::{Action, Deeds};
use super::quantity::of_report;
use super::theme;
use super::widgets::{Icon, draw_icon, focus_ring, goal_sign, said, section};
use super::{help, schematic};
use crate::blueprint::Part;
use crate::canvas::{figures, palette};
use crate::level::{Best, Level, LevelProgress, Progress};
use egui::{
    Align2, CentralPanel, Frame, Key, Painter, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType,
    pos2, vec2,
};

/// How high a level's card is.
const CARD: f32 = 116.0;

/// What the list shows.
pub struct LevelsView<'a> {
    /// The levels.
    pub levels: &'a [Level],
    /// What is remembered of them.
    pub progress: &'a Progress,
    /// Something that the player should be told.
    pub notice: Option<&'a str>,
}

/// The whole screen.
pub fn show(ui: &mut Ui, view: &LevelsView) -> Deeds {
    let levels = view.levels;
    let mut deeds = Deeds::default();
    keys(ui, levels, &mut deeds);
    CentralPanel::default().frame(Frame::new().fill(palette::GROUND)).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            let wide = ui.available_width();
            let width = (wide - 32.0).min(860.0);
            let left = (wide - width) / 2.0;
            ui.horizontal(|ui| {
                ui.add_space(left);
                ui.vertical(|ui| {
                    ui.set_width(width);
                    column(ui, view, &mut deeds);
                });
            });
        });
    });
    deeds
}

fn column(ui: &mut Ui, view: &LevelsView, deeds: &mut Deeds) {
    let tall = ui.ctx().content_rect().height();
    ui.add_space((tall * 0.08).clamp(20.0, 90.0));
    ui.label(said("Warmpath", theme::strong(30.0), palette::TEXT));
    let line =
        "Fleets of model replicas that are in trouble. Watch one fail, change its inference router while it runs, win.";
    ui.label(said(line, theme::text(13.5), palette::DIM));
    if let Some(notice) = view.notice {
        ui.add_space(12.0);
        ui.label(said(notice, theme::text(12.5), palette::WARN));
    }
    ui.add_space(18.0);
    let page = "What each part does and costs, and the rules of routing, run before your eyes.";
    if way(ui, "R", "Components · AI pipeline", page, "C") {
        deeds.act(Action::OpenComponents);
    }
    if let Some(canvas) = canvas_of(view.levels) {
        ui.add_space(6.0);
        let what = "Place parts, link them, run any fleet that you can draw.";
        if way(ui, "+", &view.levels[canvas].title, what, "B") {
            deeds.act(Action::OpenLevel(canvas));
        }
    }
    let problems = |level: &Level| !level.placing;
    let practice = |level: &Level| level.placing && !level.is_canvas();
    cards(ui, view, "Problems: a fleet in trouble", problems, deeds);
    cards(ui, view, "Practice: build a fleet within a budget", practice, deeds);
    ui.add_space(18.0);
    help::left_out(ui);
    ui.add_space(10.0);
    let keys = "Press a problem's number to open it, C for the components, B for the blank canvas, or Tab and Enter.";
    ui.label(said(keys, theme::text(11.0), palette::FAINT));
    ui.add_space(20.0);
}

/// Where the blank canvas is among what is offered.
fn canvas_of(levels: &[Level]) -> Option<usize> {
    levels.iter().position(Level::is_canvas)
}

/// The levels of a kind, under its name.
fn cards(ui: &mut Ui, view: &LevelsView, title: &str, kind: impl Fn(&Level) -> bool, deeds: &mut Deeds) {
    let of_kind: Vec<(usize, &Level)> = view.levels.iter().enumerate().filter(|(_, level)| kind(level)).collect();
    if of_kind.is_empty() {
        return;
    }
    ui.add_space(18.0);
    section(ui, title);
    for (place, level) in of_kind {
        if card(ui, level, place, view.progress.levels.get(&level.id)) {
            deeds.act(Action::OpenLevel(place));
        }
        ui.add_space(6.0);
    }
}

/// A way to another screen: its sign, its name, what is there, and its key. Returns whether it was taken.
fn way(ui: &mut Ui, letter: &str, name: &str, what: &str, key: &str) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 44.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, name));
    let hovered = response.hovered();
    let painter = ui.painter_at(rect.expand(2.0));
    let edge = palette::DECODE.gamma_multiply(if hovered { 0.7 } else { 0.35 });
    painter.rect(
        rect,
        8.0,
        palette::DECODE.gamma_multiply(if hovered { 0.14 } else { 0.07 }),
        Stroke::new(1.0, edge),
        StrokeKind::Inside,
    );
    painter.rect_stroke(rect, 8.0, focus_ring(&response), StrokeKind::Inside);
    let sign = pos2(rect.left() + 28.0, rect.center().y);
    painter.circle(sign, 10.0, palette::CARD, Stroke::new(1.5, palette::DECODE));
    painter.text(sign, Align2::CENTER_CENTER, letter, theme::strong(9.5), palette::TEXT);
    let at = pos2(rect.left() + 50.0, rect.center().y);
    let title = painter.text(at, Align2::LEFT_CENTER, name, theme::strong(13.5), palette::TEXT);
    let end = rect.right() - 18.0;
    draw_icon(&painter, Icon::Next, pos2(end, rect.center().y), palette::DECODE);
    painter.text(pos2(end - 14.0, at.y), Align2::RIGHT_CENTER, key, theme::mono(12.0), palette::FAINT);
    let what = painter.layout_no_wrap(what.to_owned(), theme::text(12.5), palette::DIM);
    let from = title.right() + 16.0;
    if from + what.size().x < end - 34.0 {
        painter.galley(pos2(from, at.y - what.size().y / 2.0), what, palette::DIM);
    }
    response.clicked()
}

/// A level's number on the keyboard opens it, B the blank canvas, C the component page.
fn keys(ui: &Ui, levels: &[Level], deeds: &mut Deeds) {
    let digits = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];
    let pressed = |key| ui.input(|input| input.modifiers.is_none() && input.key_pressed(key));
    let numbered = canvas_of(levels).unwrap_or(levels.len());
    for (place, key) in digits.into_iter().take(numbered).enumerate() {
        if pressed(key) {
            deeds.act(Action::OpenLevel(place));
        }
    }
    if let Some(canvas) = canvas_of(levels).filter(|_| pressed(Key::B)) {
        deeds.act(Action::OpenLevel(canvas));
    }
    if pressed(Key::C) {
        deeds.act(Action::OpenComponents);
    }
}

/// One level: number, title, component, incident, and a picture of its fleet. Returns whether it was chosen.
fn card(ui: &mut Ui, level: &Level, place: usize, known: Option<&LevelProgress>) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), CARD), Sense::click());
    let won = if known.is_some_and(|known| known.won) { ", won" } else { "" };
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("{}{won}", level.title)));
    let painter = ui.painter_at(rect.expand(2.0));
    let fill = if response.hovered() { palette::CARD } else { palette::PANEL };
    let edge = if response.hovered() { palette::DECODE.gamma_multiply(0.6) } else { palette::LINE };
    painter.rect(rect, 8.0, fill, Stroke::new(1.0, edge), StrokeKind::Inside);
    painter.rect_stroke(rect, 8.0, focus_ring(&response), StrokeKind::Inside);
    let narrow = rect.width() < 600.0;
    let picture = if narrow { 0.0 } else { 250.0 };
    if !narrow {
        let room = Rect::from_min_max(pos2(rect.right() - 226.0, rect.top() + 16.0), rect.max - vec2(22.0, 16.0));
        match level.placing {
            true => schematic::draw_board(&painter, room, &level.blueprint),
            false => schematic::draw(&painter, room, &level.blueprint),
        }
    }
    let text =
        Rect::from_min_max(rect.min + vec2(20.0, 16.0), pos2(rect.right() - picture - 16.0, rect.bottom() - 12.0));
    card_text(&painter, text, level, place, known);
    response.clicked()
}

fn card_text(painter: &Painter, rect: Rect, level: &Level, place: usize, known: Option<&LevelProgress>) {
    let number = painter.text(
        rect.min + vec2(0.0, 9.0),
        Align2::LEFT_CENTER,
        format!("{}", place + 1),
        theme::mono(13.0),
        palette::FAINT,
    );
    let title_at = pos2(number.right() + 12.0, rect.top() + 9.0);
    let title = painter.text(title_at, Align2::LEFT_CENTER, &level.title, theme::strong(16.0), palette::TEXT);
    if known.is_some_and(|known| known.won) {
        let mark = pos2(title.right() + 18.0, title_at.y);
        goal_sign(painter, mark, true, 7.0);
        painter.text(mark + vec2(14.0, 0.0), Align2::LEFT_CENTER, "won", theme::text(12.0), palette::GOOD);
    }
    let mut job = egui::text::LayoutJob::simple(
        level.brief.split_whitespace().collect::<Vec<_>>().join(" "),
        theme::text(12.5),
        palette::DIM,
        rect.right() - title_at.x,
    );
    job.wrap.max_rows = 2;
    job.sections.iter_mut().for_each(|section| section.format.line_height = Some(18.0));
    let galley = painter.layout_job(job);
    painter.galley(pos2(title_at.x, rect.top() + 25.0), galley, palette::DIM);
    let foot = pos2(title_at.x, rect.bottom() - 5.0);
    let component = painter.text(foot, Align2::LEFT_CENTER, component(level), theme::strong(11.0), palette::DECODE);
    let facts = match known.and_then(|known| known.best.as_ref()) {
        Some(best) => format!("{}  ·  {}", facts(level), best_words(level, best)),
        None => facts(level),
    };
    let at = pos2(component.right() + 14.0, foot.y);
    let (mut facts, room) = (facts.as_str(), rect.right() - at.x);
    let lay = |text: &str| painter.layout_no_wrap(text.to_owned(), theme::text(11.0), palette::FAINT);
    // On a narrow window as many of them as there is room for.
    while lay(facts).size().x > room
        && let Some((fewer, _)) = facts.rsplit_once("  ·  ")
    {
        facts = fewer;
    }
    let facts = lay(facts);
    painter.galley(at - vec2(0.0, facts.size().y / 2.0), facts, palette::FAINT);
}

/// The component that a level is about.
fn component(level: &Level) -> &'static str {
    match level.blueprint.count(Part::Router) {
        _ if level.placing => "Placement",
        0 => "Model replicas",
        _ => "Inference router",
    }
}

/// The best try so far in a few words: its first goal's value and what it cost.
fn best_words(level: &Level, best: &Best) -> String {
    let value = level.goals.iter().find_map(|goal| {
        let value = best.values.get(&goal.key)?;
        Some(format!("{} {}", goal.name, of_report(&goal.key, *value)))
    });
    format!("best {}, {} cr", value.unwrap_or_else(|| "try".into()), best.credits)
}

/// Its size and length in a few words.
fn facts(level: &Level) -> String {
    let goals = match level.goals.len() {
        1 => "1 goal".to_owned(),
        count => format!("{count} goals"),
    };
    let fleet = match (level.budget, level.blueprint.replicas.len()) {
        (Some(budget), _) => format!("{budget} credits"),
        (None, replicas) => format!("{replicas} replicas"),
    };
    format!("{fleet}  ·  {goals}  ·  {} of simulated time", figures::clock_s(level.seconds))
}
