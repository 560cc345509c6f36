//! The verdict: on its way, then won or not yet, each goal on each seed, what failed most and where, and the debrief.

use super::action::{Action, Deeds};
use super::view::{PlayState, PlayView, VerdictView};
use super::widgets::{goal_sign, main_button, meter, modal, plain_button, said, scroll_area, section, take_focus};
use super::{brief, quantity, theme};
use crate::canvas::{figures, palette};
use crate::level::{Goal, Level, Verdict};
use crate::sim::{GoalReport, Reason};
use egui::{Context, Grid, Rect, Sense, Stroke, Ui, WidgetInfo, WidgetType, pos2, vec2};

/// A queue shorter than this is not worth a word.
const WORTH_SAYING: u64 = 5;

/// The verdict over everything else, if one was asked for.
pub fn show(ctx: &Context, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let room = ctx.content_rect().size();
    match view.verdict {
        VerdictView::None => return,
        VerdictView::Running(progress) => {
            modal(ctx, "verdict under way", 400.0, |ui| running(ui, view.level, progress, deeds));
        }
        VerdictView::Done(verdict) => {
            modal(ctx, "verdict", 640.0, |ui| done(ui, view, verdict, state, deeds, room.y));
        }
    }
    // A click beside it does not throw away what took a while to compute; Escape does.
    if ctx.input_mut(|input| input.consume_key(egui::Modifiers::NONE, egui::Key::Escape)) {
        deeds.act(Action::CloseVerdict);
    }
}

fn running(ui: &mut Ui, level: &Level, progress: f32, deeds: &mut Deeds) {
    let seeds = level.seeds.len();
    let which = ((progress * seeds as f32) as usize + 1).min(seeds);
    ui.label(said("Verdict", theme::strong(18.0), palette::TEXT));
    for text in ["Every seed afresh from 0:00, with the settings as they are.", &format!("Seed {which} of {seeds}")] {
        ui.label(said(text, theme::text(12.0), palette::DIM));
    }
    ui.add_space(6.0);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 6.0), Sense::hover());
    response.widget_info(|| {
        let percent = format!("Verdict {} done", figures::percent(f64::from(progress)));
        WidgetInfo::labeled(WidgetType::ProgressIndicator, true, percent)
    });
    meter(ui.painter(), rect, progress, None, palette::DECODE);
    ui.add_space(8.0);
    // In a row, where a button has its word in the middle.
    ui.horizontal(|ui| {
        if plain_button(ui, "Cancel").on_hover_text("(Esc)").clicked() {
            deeds.act(Action::CloseVerdict);
        }
    });
}

fn done(ui: &mut Ui, view: &PlayView, verdict: &Verdict, state: &mut PlayState, deeds: &mut Deeds, height: f32) {
    heading(ui, view, verdict);
    ui.add_space(10.0);
    scroll_area(height - 230.0).show(ui, |ui| {
        ui.set_width(ui.available_width() - 10.0);
        table(ui, view.level, verdict);
        ui.add_space(12.0);
        section(ui, if verdict.passed { "How it went" } else { "What failed most, and where" });
        for line in findings(view.level, verdict) {
            ui.label(said(line, theme::text(12.5), palette::TEXT).line_height(Some(18.0)));
        }
        if verdict.passed {
            ui.add_space(12.0);
            section(ui, "Debrief");
            brief::paragraphs(ui, &view.level.debrief);
        } else if let Some(hint) = state.hints.checked_sub(1).and_then(|last| view.level.hints.get(last)) {
            ui.add_space(6.0);
            section(ui, &format!("Hint {}", state.hints.min(view.level.hints.len())));
            brief::paragraphs(ui, hint);
        }
    });
    ui.add_space(14.0);
    ui.horizontal(|ui| buttons(ui, view, verdict, state, deeds));
}

fn heading(ui: &mut Ui, view: &PlayView, verdict: &Verdict) {
    let (word, colour) = if verdict.passed { ("Won", palette::GOOD) } else { ("Not yet", palette::WARN) };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let (rect, _) = ui.allocate_exact_size(vec2(20.0, 26.0), Sense::hover());
        goal_sign(ui.painter(), rect.center(), verdict.passed, 9.0);
        ui.label(said(word, theme::strong(21.0), colour));
    });
    let seeds = verdict.reports.len();
    let kept = verdict.reports.iter().filter(|report| report.passed != Some(false)).count();
    let text = match (verdict.passed, seeds) {
        (true, _) => format!("{}: every goal met on each of {seeds} seeds.", view.level.title),
        (false, 1) => "A goal was missed.".to_owned(),
        (false, _) => format!("All goals were met on {kept} of {seeds} seeds; it takes all of them."),
    };
    ui.label(said(text, theme::text(12.5), palette::DIM));
}

/// A row of the table: a goal, how each seed did at it, and whether it is the margin goal.
struct Row<'a> {
    goal: &'a Goal,
    of_seeds: Vec<GoalReport>,
    margin: bool,
}

/// What stands over the margin goal.
const BEYOND: &str = "beyond the goals";

/// How the seeds did at each goal, and last at the margin goal.
fn judged<'a>(level: &'a Level, verdict: &Verdict) -> Vec<Row<'a>> {
    let row = |goal: &'a Goal, margin| {
        let of_seeds = verdict.reports.iter().map(|report| goal.judge(report)).collect();
        Row { goal, of_seeds, margin }
    };
    let goals = level.goals.iter().map(|goal| row(goal, false));
    // Where parts are placed, what lies beyond the goals may give them away: it is told to those who have met them.
    let margin = level.margin.iter().filter(|_| verdict.passed || !level.placing);
    goals.chain(margin.map(|goal| row(goal, true))).collect()
}

/// A goal to a row, a seed to a column; where that is too wide, a goal's seeds stand below its name.
fn table(ui: &mut Ui, level: &Level, verdict: &Verdict) {
    let rows = judged(level, verdict);
    if ui.available_width() < 240.0 + 106.0 * verdict.reports.len().min(3) as f32 {
        return stacked(ui, &rows);
    }
    let faint = |text: String| said(text, theme::text(11.0), palette::FAINT);
    let mut beyond_at = None;
    let grid = Grid::new("verdict table").num_columns(2 + verdict.reports.len()).spacing(vec2(20.0, 8.0));
    let grid = grid.show(ui, |ui| {
        ui.label(faint("goal".into()));
        ui.label(faint("target".into()));
        for report in &verdict.reports {
            ui.label(faint(format!("seed {}", report.seed)));
        }
        ui.end_row();
        for row in &rows {
            if row.margin {
                beyond_at = Some(ui.label(faint(BEYOND.into())).rect.top() - 3.0);
                ui.end_row();
            }
            ui.label(said(&row.goal.name, theme::strong(12.5), palette::TEXT));
            ui.label(said(quantity::target_of(row.goal), theme::text(12.0), palette::DIM));
            row.of_seeds.iter().for_each(|report| cell(ui, row.goal, report));
            ui.end_row();
        }
    });
    if let Some(y) = beyond_at {
        ui.painter().hline(grid.response.rect.x_range(), y, Stroke::new(1.0, palette::LINE));
    }
}

fn stacked(ui: &mut Ui, rows: &[Row]) {
    for Row { goal, of_seeds, margin } in rows {
        if *margin {
            ui.separator();
            ui.label(said(BEYOND, theme::text(11.0), palette::FAINT));
        }
        ui.horizontal_wrapped(|ui| {
            ui.label(said(&goal.name, theme::strong(12.5), palette::TEXT));
            ui.label(said(quantity::target_of(goal), theme::text(12.0), palette::DIM));
        });
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 18.0;
            of_seeds.iter().for_each(|report| cell(ui, goal, report));
        });
        ui.add_space(2.0);
    }
}

/// The value on one seed, with its sign; the sign and the colour say the same.
fn cell(ui: &mut Ui, goal: &Goal, report: &GoalReport) {
    let value = report.value.map_or_else(|| figures::NONE.to_owned(), |value| quantity::of_report(&goal.key, value));
    let (rect, response) = ui.allocate_exact_size(vec2(86.0, 18.0), Sense::hover());
    let met = if report.met { "met" } else { "not met" };
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("{}: {value}, {met}", goal.name)));
    goal_sign(ui.painter(), pos2(rect.left() + 7.0, rect.center().y), report.met, 6.0);
    let colour = if report.met { palette::TEXT } else { palette::WARN };
    let at = pos2(rect.right(), rect.center().y);
    ui.painter_at(Rect::from_min_max(rect.min, rect.max)).text(
        at,
        egui::Align2::RIGHT_CENTER,
        value,
        theme::mono(12.5),
        colour,
    );
}

/// What failed most and where, the longest queue, the goal that was missed by most: in words.
pub fn findings(level: &Level, verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(failure) = verdict.worst_failure() {
        let share = figures::percent(failure.calls as f64 / failure.sent.max(1) as f64);
        let calls = figures::count(failure.calls);
        let place = full_queues(verdict, failure.reason == Reason::ReplicaQueueFull);
        let fate =
            if matches!(failure.reason, Reason::TimedOut | Reason::RouterCrashed) { "failed" } else { "rejected" };
        let seeds = verdict.reports.len();
        let over = if seeds > 1 { format!(", over all {seeds} seeds") } else { String::new() };
        lines.push(format!("{calls} calls {fate} ({share} of those sent{over}): {}{place}.", failure.reason.words()));
    }
    if let Some((replica, longest)) = longest_queue(verdict).filter(|(_, longest)| *longest >= WORTH_SAYING) {
        let mean = mean_waiting(verdict, replica);
        lines.push(format!(
            "Longest queue: {} calls, at replica {}, where {mean} waited on average.",
            figures::count(longest),
            replica + 1,
        ));
    }
    if let Some((goal, value)) = worst_goal(level, verdict) {
        let value = value.map_or_else(|| "no sample".to_owned(), |value| quantity::of_report(&goal.key, value));
        lines.push(format!(
            "Furthest from its target: {}, {value} where it takes {}.",
            goal.name,
            quantity::target_of(goal)
        ));
    }
    if lines.is_empty() {
        lines.push("No call was rejected, and hardly one waited at a replica.".into());
    }
    lines
}

/// Which replicas' queues filled up: only there can a call have been rejected for it.
fn full_queues(verdict: &Verdict, asked: bool) -> String {
    if !asked {
        return String::new();
    }
    let capacity = |report: &crate::sim::Report, index: usize| {
        let own = report.settings.get(&format!("replica[{index}].queue"));
        own.or_else(|| report.settings.get("replica.queue")).and_then(serde_json::Value::as_u64)
    };
    let mut full: Vec<usize> = Vec::new();
    for report in &verdict.reports {
        for (index, replica) in report.replicas.iter().enumerate() {
            if capacity(report, index).is_some_and(|places| replica.max_waiting >= places) && !full.contains(&index) {
                full.push(index);
            }
        }
    }
    full.sort_unstable();
    match full.as_slice() {
        [] => String::new(),
        [one] => format!(", all at replica {}", one + 1),
        several => {
            let numbers: Vec<String> = several.iter().map(|index| (index + 1).to_string()).collect();
            format!(", at replicas {}", numbers.join(", "))
        }
    }
}

/// The longest queue of all seeds and its replica, the first of equals.
fn longest_queue(verdict: &Verdict) -> Option<(usize, u64)> {
    let queues = verdict.reports.iter().flat_map(|report| report.replicas.iter().enumerate());
    queues
        .map(|(index, replica)| (index, replica.max_waiting))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
}

fn mean_waiting(verdict: &Verdict, replica: usize) -> String {
    let means: Vec<f64> = verdict
        .reports
        .iter()
        .filter_map(|report| report.replicas.get(replica).and_then(|replica| replica.mean_waiting))
        .collect();
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    format!("{mean:.1}")
}

/// The goal that was missed by most on any seed, as a ratio of value to target; one without a value before all others.
fn worst_goal<'a>(level: &'a Level, verdict: &Verdict) -> Option<(&'a Goal, Option<f64>)> {
    let mut worst: Option<(f64, &Goal, Option<f64>)> = None;
    for report in &verdict.reports {
        for (goal, judged) in level.goals.iter().zip(&report.goals) {
            if judged.met {
                continue;
            }
            let miss = match judged.value {
                None => f64::INFINITY,
                Some(value) if judged.at_least => judged.target / value.max(1e-9),
                Some(value) => value / judged.target.max(1e-9),
            };
            if worst.is_none_or(|(most, ..)| miss > most) {
                worst = Some((miss, goal, judged.value));
            }
        }
    }
    worst.map(|(_, goal, value)| (goal, value))
}

fn buttons(ui: &mut Ui, view: &PlayView, verdict: &Verdict, state: &mut PlayState, deeds: &mut Deeds) {
    if verdict.passed {
        let more = main_button(ui, "More problems");
        take_focus(&more);
        if more.clicked() {
            deeds.act(Action::Back);
        }
    } else {
        let again = main_button(ui, "Try again");
        take_focus(&again);
        if again.on_hover_text("From 0:00, with these settings  (R)").clicked() {
            deeds.act(Action::Restart);
        }
        let all = view.level.hints.len();
        if state.hints < all && plain_button(ui, &format!("Hint {} of {all}", state.hints + 1)).clicked() {
            state.hints += 1;
        }
    }
    if plain_button(ui, "Back to the run").on_hover_text("(Esc)").clicked() {
        deeds.act(Action::CloseVerdict);
    }
}
