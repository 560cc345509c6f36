//! The left panel: the goals with their live values, what happened, hints on request.

use super::action::{Action, Deeds};
use super::view::{PlayState, PlayView};
use super::widgets::{goal_sign, main_button, meter, plain_button, said, section};
use super::{canvas_brief, decisions, quantity, theme};
use crate::canvas::{figures, palette};
use crate::level::{Bound, Goal};
use crate::sim::{GoalReport, seconds};
use egui::{Align, Align2, Rect, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, pos2, vec2};

/// The whole panel.
pub fn show(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let hints = !view.level.hints.is_empty();
    if hints || view.over && !view.level.goals.is_empty() {
        let frame = egui::Frame::new().inner_margin(egui::Margin { left: 0, right: 0, top: 8, bottom: 0 });
        egui::Panel::bottom("brief foot").show_separator_line(false).frame(frame).show(ui, |ui| {
            foot(ui, view, state, deeds);
        });
    }
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        // The scroll bar, where there is one, has its own room.
        ui.set_max_width(ui.available_width() - 6.0);
        if !view.level.goals.is_empty() {
            goals(ui, view);
        }
        if view.level.is_canvas() {
            canvas_brief::show(ui, view, deeds);
            return;
        }
        section(ui, if view.level.placing { "The task" } else { "What happened" });
        paragraphs(ui, &view.level.brief);
        for (place, hint) in view.level.hints.iter().take(state.hints).enumerate() {
            ui.add_space(8.0);
            section(ui, &format!("Hint {}", place + 1));
            paragraphs(ui, hint);
            if place + 1 == state.hints && state.hints_seen < state.hints {
                ui.scroll_to_cursor(Some(Align::BOTTOM));
                state.hints_seen = state.hints;
            }
        }
        if view.level.placing {
            decisions::show(ui, view);
        }
    });
}

fn foot(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    ui.horizontal(|ui| {
        let all = view.level.hints.len();
        if state.hints < all {
            let text = format!("Hint {} of {all}", state.hints + 1);
            if plain_button(ui, &text).on_hover_text("Shows a hint, the gentlest first  (H)").clicked() {
                state.hints += 1;
            }
        }
        if view.over && !view.level.goals.is_empty() && main_button(ui, "Verdict").clicked() {
            deeds.act(Action::Verdict);
        }
    });
}

/// Text in paragraphs.
pub fn paragraphs(ui: &mut Ui, text: &str) {
    for paragraph in text.split('\n').map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        ui.label(said(paragraph, theme::text(12.0), palette::DIM).line_height(Some(17.0)));
    }
}

fn goals(ui: &mut Ui, view: &PlayView) {
    section(ui, "Goals");
    let warmup = view.level.warmup_s;
    // Nothing has been measured yet: that no call has failed, say, is not a goal that is met.
    let measured = seconds(view.now) >= warmup;
    for (goal, report) in view.level.goals.iter().zip(view.goals) {
        let value = report.value.filter(|_| measured);
        card(ui, view, goal, &GoalReport { value, met: report.met && measured, ..report.clone() });
    }
    let note = if view.over {
        "The run is over. Ask for the verdict, or begin again with R.".into()
    } else if !measured {
        format!("Measured from {} on, when the caches are warm.", figures::clock_s(warmup))
    } else if view.marks.is_empty() {
        format!("Over this run since {}.", figures::clock_s(warmup))
    } else {
        "You changed this run. A verdict is a fresh one, with the settings as they are.".into()
    };
    ui.label(said(note, theme::text(11.0), palette::FAINT));
    ui.add_space(8.0);
}

/// One goal: its sign, name, value so far, target, the value just now, and a bar with a tick at the target.
fn card(ui: &mut Ui, view: &PlayView, goal: &Goal, report: &GoalReport) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 52.0), Sense::hover());
    let value = report.value.map_or_else(|| figures::NONE.to_owned(), |value| quantity::of_report(&goal.key, value));
    let target = quantity::target_of(goal);
    let met = if report.met { "met" } else { "not met" };
    let whole = format!("{}: {value}, {target}, {met}", goal.name);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &whole));
    let colour = match (report.value, report.met) {
        (None, _) => palette::DIM,
        (_, true) => palette::GOOD,
        (_, false) => palette::WARN,
    };
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 6.0, palette::CARD);
    if report.value.is_some() {
        goal_sign(&painter, pos2(rect.left() + 16.0, rect.top() + 17.0), report.met, 6.5);
    } else {
        let at = pos2(rect.left() + 16.0, rect.top() + 17.0);
        painter.circle_stroke(at, 5.75, egui::Stroke::new(1.5, palette::FAINT));
    }
    let (left, right) = (rect.left() + 32.0, rect.right() - 10.0);
    let value_colour = if report.met || report.value.is_none() { palette::TEXT } else { palette::WARN };
    let top = rect.top() + 16.0;
    let value = painter.text(pos2(right, top), Align2::RIGHT_CENTER, value, theme::mono_strong(13.0), value_colour);
    let name = painter.layout_no_wrap(goal.name.clone(), theme::strong(12.5), palette::TEXT);
    let room = Rect::from_min_max(rect.min, pos2(value.left() - 6.0, rect.bottom()));
    painter.with_clip_rect(room).galley(pos2(left, top - name.size().y / 2.0), name, palette::TEXT);
    let below = rect.top() + 33.0;
    painter.text(pos2(left, below), Align2::LEFT_CENTER, target, theme::text(11.0), palette::DIM);
    if let Some(now) = just_now(view, goal) {
        painter.text(pos2(right, below), Align2::RIGHT_CENTER, format!("now {now}"), theme::mono(10.5), palette::DIM);
    }
    let bar = Rect::from_min_max(pos2(left, rect.bottom() - 8.0), pos2(right, rect.bottom() - 5.0));
    let (share, tick) = bar_of(goal, report.value);
    meter(&painter, bar, share, tick, colour);
    response.on_hover_text(format!("{} · report key {}", whole, goal.key));
}

/// The value over the last window, where the charts have it.
fn just_now(view: &PlayView, goal: &Goal) -> Option<String> {
    let measures = view.measures;
    let value = match goal.key.as_str() {
        "ttft_ms.p50" => measures.ttft_ms.0,
        "ttft_ms.p99" => measures.ttft_ms.1,
        "hit_rate" => measures.hit_rate,
        _ => None,
    }?;
    Some(quantity::of_report(&goal.key, value))
}

/// How far the bar is filled, and where on it the target lies.
fn bar_of(goal: &Goal, value: Option<f64>) -> (f32, Option<f32>) {
    let target = goal.bound.target();
    let is_share = matches!(goal.bound, Bound::AtLeast(_)) && target <= 1.0;
    let full = if is_share { 1.0 } else { target / 0.75 };
    let value = value.unwrap_or(0.0);
    if full <= 0.0 {
        return (if value > 0.0 { 1.0 } else { 0.0 }, None);
    }
    ((value / full) as f32, Some((target / full) as f32))
}
