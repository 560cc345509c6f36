//! What shows a claim: its title, its fleets as far as they have come, and which fleet it is.

use super::{ComponentsView, curve, words};
use crate::canvas::{figures, palette};
use crate::level::{Demo, DemoRun, Side, SideBySideRun};
use crate::panels::action::{Action, Deeds};
use crate::panels::widgets::{Icon, icon_button, said};
use crate::panels::{quantity, theme};
use egui::{
    Align, Align2, Color32, Label, Layout, Painter, Rect, Sense, Stroke, Ui, WidgetInfo, WidgetType, pos2, vec2,
};

/// The colours of ways to run a fleet, in their order: the one that misses, the one that finds.
pub const WAYS: [Color32; 2] = [palette::WARN, palette::GOOD];
/// How high a replica's bar is with the space below it.
const PITCH: f32 = 13.0;

/// The whole demo.
pub fn show(ui: &mut Ui, view: &ComponentsView, place: usize, deeds: &mut Deeds) {
    ui.spacing_mut().item_spacing.y = 8.0;
    let demo = &view.page.demos[place];
    let run = view.demos.get(place).and_then(Option::as_ref);
    match demo {
        Demo::SideBySide(demo) => {
            let run = if let Some(DemoRun::SideBySide(run)) = run { Some(&**run) } else { None };
            let clock = |s: f64| figures::clock_s(s);
            let end = clock(demo.setup.level.seconds);
            let now = run.map_or(0.0, SideBySideRun::now_s);
            let narrow = ui.available_width() < 400.0;
            let time = if narrow { clock(now) } else { format!("{} of {end}", clock(now)) };
            head(ui, &demo.title, &time, |ui| {
                let again = icon_button(ui, Icon::Restart, "Run again", vec2(26.0, 22.0));
                if again.gained_focus() {
                    again.scroll_to_me(None);
                }
                if again.on_hover_text("Both again from 0:00  (R)").clicked() {
                    deeds.act(Action::RestartDemo(place));
                }
            });
            sides(ui, demo, run);
        }
        Demo::Curve(demo) => {
            let run = if let Some(DemoRun::Curve(run)) = run { Some(&**run) } else { None };
            let all = demo.values.len() * demo.lines.len();
            let done = run.map_or(0, |run| run.progress().0);
            let progress = if done == all { format!("{all} runs") } else { format!("{done} of {all} runs") };
            head(ui, &demo.title, &progress, |_| {});
            curve::show(ui, demo, run);
        }
    }
}

/// The title, and at the right what is done so far and what one can do.
fn head(ui: &mut Ui, title: &str, progress: &str, buttons: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(vec2(ui.available_width(), 22.0), Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        buttons(ui);
        ui.label(said(progress, theme::mono(12.0), palette::DIM));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.add(Label::new(said(title, theme::strong(12.5), palette::TEXT)).truncate());
        });
    });
}

/// Which fleet it is.
pub fn fleet(ui: &mut Ui, demo: &Demo) {
    let text = match demo {
        Demo::SideBySide(demo) => words::fleet(&demo.setup, None),
        Demo::Curve(demo) => words::fleet(&demo.setup, Some(&demo.vary)),
    };
    ui.add(Label::new(said(text, theme::text(11.0), palette::DIM).line_height(Some(15.0))).wrap());
}

/// The ways side by side, and below them their hit rates over time.
fn sides(ui: &mut Ui, demo: &crate::level::SideBySide, run: Option<&SideBySideRun>) {
    let count = demo.sides.len();
    let gap = 24.0_f32.min(ui.available_width() * 0.06);
    let width = (ui.available_width() - gap * (count as f32 - 1.0)) / count as f32;
    let most = run.map_or(0, |run| {
        run.sides().iter().flat_map(|side| &side.report.replicas).map(|r| r.prompt_tokens).max().unwrap_or(0)
    });
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        for (place, line) in demo.sides.iter().enumerate() {
            let side = run.and_then(|run| run.sides().get(place));
            let rows = line.blueprint.replicas.len();
            let (rect, response) = ui.allocate_exact_size(vec2(width, 82.0 + PITCH * rows as f32), Sense::hover());
            let rate = rate_of(side);
            let label = format!("{}: KV hit rate {rate}", line.name);
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &label));
            one_side(&ui.painter_at(rect), rect, &line.name, side, WAYS[place % WAYS.len()]);
            let bars = Rect::from_min_max(rect.min + vec2(0.0, 80.0), rect.max);
            bars_of(&ui.painter_at(rect), bars, rows, side, most);
        }
    });
    legend(ui);
    over_time(ui, demo, run);
}

fn rate_of(side: Option<&Side>) -> String {
    side.and_then(|side| side.report.hit_rate).map_or_else(|| figures::NONE.into(), figures::percent_fine)
}

/// The name, the hit rate in large, and what it means in tokens and time.
fn one_side(painter: &Painter, rect: Rect, name: &str, side: Option<&Side>, colour: Color32) {
    let left = rect.left();
    painter.text(pos2(left, rect.top() + 8.0), Align2::LEFT_CENTER, name, theme::strong(13.0), palette::TEXT);
    let narrow = rect.width() < 200.0;
    let size = if narrow { 26.0 } else { 32.0 };
    let at = pos2(left, rect.top() + 36.0);
    let rate = painter.text(at, Align2::LEFT_CENTER, rate_of(side), theme::mono_strong(size), colour);
    if !narrow {
        let at = pos2(rate.right() + 12.0, at.y + 5.0);
        painter.text(at, Align2::LEFT_CENTER, "KV hit rate", theme::text(12.0), palette::DIM);
    }
    let ttft = side.and_then(|side| side.report.ttft_ms.p50);
    let ttft = ttft.map_or_else(|| figures::NONE.into(), |ms| quantity::of_report("ttft_ms.p50", ms));
    let found = side.map_or(0, |side| side.report.hit_tokens);
    let found = figures::compact_tokens(found);
    let text = if narrow { format!("TTFT p50 {ttft}") } else { format!("{found} tokens found  ·  TTFT p50 {ttft}") };
    painter.text(pos2(left, rect.top() + 65.0), Align2::LEFT_CENTER, text, theme::text(12.0), palette::DIM);
}

/// A bar for each replica: the prompt tokens of its calls, those that it found and those that it had to compute.
fn bars_of(painter: &Painter, rect: Rect, rows: usize, side: Option<&Side>, most: u64) {
    for row in 0..rows {
        let top = rect.top() + PITCH * row as f32;
        let middle = top + PITCH / 2.0;
        let number = pos2(rect.left() + 14.0, middle);
        painter.text(number, Align2::RIGHT_CENTER, row + 1, theme::mono(10.0), palette::FAINT);
        let all = Rect::from_min_max(pos2(rect.left() + 20.0, top + 2.0), pos2(rect.right(), top + PITCH - 2.0));
        painter.rect_filled(all, 1.5, palette::EMPTY.gamma_multiply(0.6));
        let Some(replica) = side.and_then(|side| side.report.replicas.get(row)).filter(|_| most > 0) else { continue };
        let x = |tokens: u64| all.left() + all.width() * (tokens as f64 / most as f64) as f32;
        let (found, sent) = (x(replica.hit_tokens), x(replica.prompt_tokens));
        let part = |from: f32, to: f32| Rect::from_min_max(pos2(from, all.top()), pos2(to, all.bottom()));
        painter.rect_filled(part(all.left(), found), 1.5, palette::GOOD.gamma_multiply(0.9));
        painter.rect_filled(part(found, sent), 1.5, palette::PREFILL.gamma_multiply(0.75));
    }
}

fn legend(ui: &mut Ui) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 2.0);
        ui.label(said("Prompt tokens of each replica:", theme::text(11.0), palette::DIM));
        for (colour, word) in [(palette::GOOD, "found"), (palette::PREFILL, "computed")] {
            let (rect, _) = ui.allocate_exact_size(vec2(9.0, 9.0), Sense::hover());
            ui.painter().rect_filled(rect, 1.5, colour);
            ui.label(said(word, theme::text(11.0), palette::DIM));
            ui.add_space(6.0);
        }
    });
}

/// The hit rates so far, over simulated time.
fn over_time(ui: &mut Ui, demo: &crate::level::SideBySide, run: Option<&SideBySideRun>) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 92.0), Sense::hover());
    let painter = ui.painter_at(rect);
    let plot = Rect::from_min_max(rect.min + vec2(40.0, 8.0), rect.max - vec2(4.0, 18.0));
    for (share, text) in [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")] {
        let y = plot.bottom() - plot.height() * share;
        painter.hline(plot.x_range(), y, Stroke::new(1.0, palette::LINE.gamma_multiply(0.7)));
        painter.text(pos2(plot.left() - 6.0, y), Align2::RIGHT_CENTER, text, theme::mono(10.0), palette::FAINT);
    }
    let end = demo.setup.level.seconds;
    for (share, align) in [(0.0, Align2::LEFT_CENTER), (0.5, Align2::CENTER_CENTER), (1.0, Align2::RIGHT_CENTER)] {
        let at = pos2(plot.left() + plot.width() * share, rect.bottom() - 7.0);
        painter.text(at, align, figures::clock_s(end * f64::from(share)), theme::mono(10.0), palette::FAINT);
    }
    for (place, side) in run.map_or(&[][..], SideBySideRun::sides).iter().enumerate() {
        let point = |(s, share): &(f64, f64)| {
            let x = plot.left() + plot.width() * (s / end) as f32;
            pos2(x, plot.bottom() - plot.height() * *share as f32)
        };
        let points: Vec<_> = side.hit_rates.iter().map(point).collect();
        let colour = WAYS[place % WAYS.len()];
        if let Some(last) = points.last() {
            painter.circle_filled(*last, 3.0, colour);
        }
        painter.line(points, Stroke::new(1.6, colour));
    }
}
