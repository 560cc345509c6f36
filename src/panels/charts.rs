//! The charts: TTFT, KV hit rate and waiting calls over simulated time, with the goals and the player's changes.

use super::theme;
use super::view::{Mark, PlayView, Series};
use super::widgets::said;
use crate::canvas::{figures, palette};
use crate::level::Goal;
use crate::sim::seconds;
use egui::{Align2, Color32, Stroke, Ui, UiBuilder, vec2};
use egui_plot::{
    AxisHints, GridMark, HLine, HPlacement, Line, LineStyle, Plot, PlotPoint, PlotPoints, Span, Text, VLine,
};

/// What one chart shows.
struct Chart<'a> {
    title: &'a str,
    legend: Vec<(&'a str, Color32)>,
    lines: Vec<(String, &'a [PlotPoint], Color32, f32)>,
    goals: Vec<f64>,
    /// The highest value shown.
    top: f64,
    /// How a value is written.
    figure: fn(f64) -> String,
}

/// All three, beside each other or, where there is no room for that, above each other.
pub fn show(ui: &mut Ui, view: &PlayView) {
    let series = view.series;
    let charts = [ttft(view, series), hit_rate(view, series), waiting(view, series)];
    let whole = ui.available_rect_before_wrap();
    let gap = 20.0;
    let beside = whole.width() > 560.0;
    let count = charts.len() as f32;
    for (place, chart) in charts.into_iter().enumerate() {
        let place = place as f32;
        let rect = if beside {
            let width = (whole.width() - gap * (count - 1.0)) / count;
            egui::Rect::from_min_size(whole.min + vec2(place * (width + gap), 0.0), vec2(width, whole.height()))
        } else {
            let height = (whole.height() - gap * (count - 1.0)) / count;
            egui::Rect::from_min_size(whole.min + vec2(0.0, place * (height + gap)), vec2(whole.width(), height))
        };
        ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| one(ui, view, chart));
    }
}

fn goals_of(view: &PlayView, key: &str) -> Vec<f64> {
    view.level.goals.iter().filter(|goal: &&Goal| goal.key == key).map(|goal| goal.bound.target()).collect()
}

fn highest(points: &[PlotPoint]) -> f64 {
    points.iter().map(|point| point.y).fold(0.0, f64::max)
}

fn ttft<'a>(view: &PlayView, series: &'a Series) -> Chart<'a> {
    let goals = [goals_of(view, "ttft_ms.p50"), goals_of(view, "ttft_ms.p99")].concat();
    let goal = goals.iter().copied().fold(0.0, f64::max);
    Chart {
        title: "TTFT",
        legend: vec![("p50", palette::DECODE), ("p99", palette::WARN)],
        lines: vec![
            ("p50".into(), &series.ttft_p50, palette::DECODE, 1.5),
            ("p99".into(), &series.ttft_p99, palette::WARN, 1.5),
        ],
        top: round_up(highest(&series.ttft_p99).max(goal * 1.15).max(10.0)),
        goals,
        figure: figures::duration_ms,
    }
}

fn hit_rate<'a>(view: &PlayView, series: &'a Series) -> Chart<'a> {
    Chart {
        title: "KV hit rate",
        legend: Vec::new(),
        lines: vec![("hit rate".into(), &series.hit_rate, palette::GOOD, 1.5)],
        goals: goals_of(view, "hit_rate").iter().map(|share| share * 100.0).collect(),
        top: 100.0,
        figure: |percent| figures::percent(percent / 100.0),
    }
}

/// The replica with the longest queue of late stands out; the others step back.
fn waiting<'a>(view: &PlayView, series: &'a Series) -> Chart<'a> {
    if series.waiting.len() > MOST_LINES {
        return waiting_of_many(series);
    }
    let now: Vec<u64> = view.measures.replicas.iter().map(|replica| replica.waiting).collect();
    let hottest =
        now.iter().copied().enumerate().max_by_key(|(_, waiting)| *waiting).filter(|(_, waiting)| *waiting > 0);
    let hottest = hottest.map(|(index, _)| index);
    let mut lines: Vec<(String, &[PlotPoint], Color32, f32)> = series
        .waiting
        .iter()
        .enumerate()
        .map(|(index, points)| {
            (format!("replica {}", index + 1), points.as_slice(), palette::FAINT.gamma_multiply(0.7), 1.0)
        })
        .collect();
    if let Some(index) = hottest.filter(|index| *index < lines.len()) {
        let mut line = lines.remove(index);
        (line.2, line.3) = (palette::WARN, 1.5);
        lines.push(line);
    }
    let top = series.waiting.iter().map(|points| highest(points)).fold(8.0, f64::max);
    Chart {
        title: "Waiting per replica",
        legend: vec![("longest", palette::WARN), ("others", palette::DIM)],
        lines,
        goals: Vec::new(),
        top: round_up(top),
        figure: |calls| figures::count(calls.round() as u64),
    }
}

/// So many replicas have a line each; of more of them there are the longest queue and the mean.
const MOST_LINES: usize = 12;

fn waiting_of_many(series: &Series) -> Chart<'_> {
    Chart {
        title: "Waiting per replica",
        legend: vec![("longest", palette::WARN), ("mean", palette::DIM)],
        lines: vec![
            ("mean".into(), &series.waiting_mean, palette::DIM, 1.5),
            ("longest".into(), &series.waiting_longest, palette::WARN, 1.5),
        ],
        goals: Vec::new(),
        top: round_up(highest(&series.waiting_longest).max(8.0)),
        figure: |calls| figures::count(calls.round() as u64),
    }
}

/// The next number of the form 1, 2, 3, 4, 5, 6, 8 times a power of ten, so that the scale seldom changes.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= value * 0.999).unwrap_or(10.0);
    step * power
}

/// How much time is shown: it grows in steps, so that the lines stand still in between.
fn shown_s(view: &PlayView) -> f64 {
    let now = seconds(view.now);
    let steps = [60.0, 120.0, 180.0, 300.0, 450.0, 600.0, 900.0, 1_200.0, 1_800.0, 2_700.0, 3_600.0];
    let step = steps.into_iter().find(|step| now <= *step).unwrap_or(now);
    step.min(view.level.seconds.max(now))
}

fn one(ui: &mut Ui, view: &PlayView, chart: Chart) {
    ui.spacing_mut().item_spacing = vec2(6.0, 2.0);
    ui.horizontal(|ui| {
        ui.label(said(chart.title, theme::strong(12.0), palette::TEXT));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.add_space(2.0);
            for (name, colour) in chart.legend.iter().rev() {
                ui.label(said(*name, theme::text(11.0), *colour));
            }
        });
    });
    let (right, top) = (shown_s(view), chart.top);
    let figure = chart.figure;
    let marks = place(view.marks, right, ui.available_width() - 54.0);
    // The texts of the changes stand above what is measured.
    let rows = marks.iter().filter_map(|mark| mark.text.as_ref()).map(|(_, row, _)| row + 1).max().unwrap_or(0);
    let above = (rows as f32 * MARK_ROW + 7.0) / (ui.available_height() - 16.0).max(40.0);
    let highest = top / (1.0 - f64::from(above)).max(0.5);
    let x = AxisHints::new_x()
        .formatter(|mark: GridMark, _: &_| figures::clock_s(mark.value))
        .tick_label_color(palette::FAINT)
        .tick_label_font(theme::mono(10.0))
        .label_spacing(0.0..=1.0);
    let y = AxisHints::new_y()
        // The corner belongs to the time axis.
        .formatter(move |mark: GridMark, _: &_| if mark.value > 0.0 { figure(mark.value) } else { String::new() })
        .tick_label_color(palette::FAINT)
        .tick_label_font(theme::mono(10.0))
        .placement(HPlacement::Left)
        .min_thickness(44.0)
        .label_spacing(0.0..=1.0);
    Plot::new(("chart", chart.title))
        .custom_x_axes(vec![x])
        .custom_y_axes(vec![y])
        .x_grid_spacer(move |_| marks_at(&[0.0, right / 2.0, right], right))
        .y_grid_spacer(move |_| marks_at(&[0.0, top / 2.0, top], top))
        .show_background(false)
        .show_grid([false, true])
        .grid_color(palette::LINE)
        .grid_fade(0.0)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_crosshair(false)
        .set_margin_fraction(vec2(0.0, 0.0))
        .label_formatter(move |position: &egui_plot::HoverPosition<'_>| hover(position, figure))
        .height(ui.available_height())
        // The last label of the time axis reaches beyond its end.
        .width(ui.available_width() - 10.0)
        .show(ui, |plot| {
            plot.set_plot_bounds_x(0.0..=right);
            plot.set_plot_bounds_y(0.0..=highest);
            let warmup = view.level.warmup_s;
            if warmup > 0.0 {
                let shade = palette::GROUND.gamma_multiply(0.6);
                plot.span(Span::new("", 0.0..=warmup.min(right)).fill(shade).border_width(0.0));
            }
            for goal in &chart.goals {
                let style = LineStyle::Dotted { spacing: 4.0 };
                plot.hline(HLine::new("", *goal).color(palette::GOLD).width(0.8).style(style));
            }
            for (name, points, colour, width) in &chart.lines {
                for stretch in stretches(points) {
                    let points = PlotPoints::Borrowed(stretch);
                    plot.line(Line::new(name.clone(), points).color(*colour).width(*width));
                }
            }
            for goal in &chart.goals {
                let text = backed(format!("goal {}", figure(*goal)), palette::GOLD);
                // Above the line where there is room, else below it.
                let (align, off) =
                    if *goal < top * 0.8 { (Align2::RIGHT_BOTTOM, 0.02) } else { (Align2::RIGHT_TOP, -0.02) };
                plot.text(Text::new("", PlotPoint::new(right, *goal + top * off), text).anchor(align));
            }
            marks.iter().for_each(|mark| change(plot, mark, highest));
        });
}

fn marks_at(values: &[f64], span: f64) -> Vec<GridMark> {
    values.iter().map(|&value| GridMark { value, step_size: span.max(1e-9) }).collect()
}

fn hover(position: &egui_plot::HoverPosition<'_>, figure: fn(f64) -> String) -> Option<String> {
    match position {
        egui_plot::HoverPosition::NearDataPoint { plot_name, position, .. } if !plot_name.is_empty() => {
            Some(format!("{plot_name}: {} at {}", figure(position.y), figures::clock_s(position.x)))
        }
        _ => None,
    }
}

/// Text that can be read over lines.
fn backed(text: String, colour: Color32) -> egui::RichText {
    said(text, theme::text(10.0), colour).background_color(palette::PANEL.gamma_multiply(0.85))
}

/// How high a row of the changes' texts is, in points, and how many rows there may be.
const MARK_ROW: f32 = 12.0;
const MARK_ROWS: usize = 2;
/// Changes that lie closer together, in points, have one line, with the text of the latest.
const MARKS_APART: f32 = 3.0;

/// A change on a chart: where in time, and its text if there is room for it, with its row and the moment where it begins.
struct Placed {
    at: f64,
    text: Option<(String, usize, f64)>,
}

/// Gives each change's text a row in which it lies over no other; the latest come first, and those without room have a
/// line only. `width` is that of the plot in points, `right` its last moment in seconds.
fn place(marks: &[Mark], right: f64, width: f32) -> Vec<Placed> {
    let mut taken: [Vec<(f32, f32)>; MARK_ROWS] = Default::default();
    let mut placed = Vec::new();
    let mut last_x = f32::INFINITY;
    for mark in marks.iter().rev() {
        // Lines so close together would be one block of colour.
        let here = (seconds(mark.at) / right) as f32 * width;
        if last_x - here < MARKS_APART {
            continue;
        }
        last_x = here;
        let (at, text) = (seconds(mark.at), mark.text());
        let x = (at / right) as f32 * width;
        // A generous guess at the width of a letter.
        let wide = text.chars().count() as f32 * 6.0 + 14.0;
        // After its line; where there is no room, before it; where there is none either, over it.
        let start = match (x + wide <= width, x - wide >= 0.0) {
            (true, _) => x,
            (false, true) => x - wide,
            (false, false) => (width - wide).max(0.0),
        };
        let span = (start, start + wide);
        let free = |row: &Vec<(f32, f32)>| row.iter().all(|(from, to)| span.1 < *from || *to < span.0);
        let row = taken.iter().position(free);
        if let Some(row) = row {
            taken[row].push(span);
        }
        placed.push(Placed { at, text: row.map(|row| (text, row, f64::from(start / width) * right)) });
    }
    placed
}

/// The stretches of a line that have no gap in them: while there were no calls there is no value, and no line.
fn stretches(points: &[PlotPoint]) -> impl Iterator<Item = &[PlotPoint]> {
    // Samples come at even steps of time.
    let step = points.windows(2).map(|pair| pair[1].x - pair[0].x).fold(f64::INFINITY, f64::min);
    points.chunk_by(move |a, b| b.x - a.x <= step * 2.5)
}

/// A dashed line where the player changed something, with what it was in the room above the scale.
fn change(plot: &mut egui_plot::PlotUi, mark: &Placed, highest: f64) {
    let stroke = Stroke::new(1.0, palette::DECODE.gamma_multiply(if mark.text.is_some() { 1.0 } else { 0.35 }));
    plot.vline(VLine::new("", mark.at).stroke(stroke).style(LineStyle::dashed_dense()));
    let Some((text, row, start)) = &mark.text else { return };
    let height = plot.transform().frame().height().max(1.0);
    let at = highest * (1.0 - f64::from(MARK_ROW / height) * *row as f64);
    let text = backed(format!(" {text}"), palette::DECODE);
    plot.text(Text::new("", PlotPoint::new(*start, at), text).anchor(Align2::LEFT_TOP));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: u64, to: f64) -> Mark {
        let value = |number| Some(crate::blueprint::Value::Number(number));
        let change = crate::blueprint::Change::Setting { key: "router.spill".into(), from: value(0.0), to: value(to) };
        Mark { at: at * 1_000_000, change }
    }

    #[test]
    fn texts_of_changes_lie_over_none_and_the_latest_has_its_own() {
        let marks = [mark(60, 4.0), mark(140, 8.0), mark(180, 16.0), mark(590, 32.0)];
        let placed = place(&marks, 600.0, 200.0);
        let rows: Vec<Option<usize>> = placed.iter().map(|mark| mark.text.as_ref().map(|(_, row, _)| *row)).collect();
        assert_eq!(rows, [Some(0), Some(1), None, Some(0)]);
        assert!(
            placed[0].text.as_ref().is_some_and(|(.., start)| *start < 590.0),
            "at the end it stands before its line"
        );
        assert_eq!(
            place(&[mark(100, 4.0), mark(102, 8.0)], 600.0, 200.0).len(),
            1,
            "one line where there would be a block"
        );
        let narrow = place(&[mark(300, 16.0)], 600.0, 60.0);
        assert!(narrow[0].text.as_ref().is_some_and(|(.., start)| *start >= 0.0), "it is never cut off at its start");
    }

    #[test]
    fn a_line_is_broken_where_there_is_no_value() {
        let line = |times: &[f64]| times.iter().map(|x| PlotPoint::new(*x, 1.0)).collect::<Vec<_>>();
        let lengths = |points: Vec<PlotPoint>| stretches(&points).map(<[PlotPoint]>::len).collect::<Vec<_>>();
        assert_eq!(lengths(line(&[1.0, 2.0, 3.0, 9.0, 10.0, 30.0])), [3, 2, 1]);
        // After every other sample went, steps are twice as long.
        assert_eq!(lengths(line(&[1.0, 2.0, 4.0, 6.0])), [4]);
        assert!(lengths(Vec::new()).is_empty());
    }

    #[test]
    fn scales_end_on_round_numbers() {
        assert_eq!(
            [9.0, 10.0, 11.0, 310.0, 1_690.0, 42_000.0].map(round_up),
            [10.0, 10.0, 20.0, 400.0, 2_000.0, 50_000.0]
        );
    }
}
