//! A result over a setting, point by point as it is computed.

use super::demo::WAYS;
use crate::canvas::{figures, palette};
use crate::level::{Curve, CurveRun, Point, Scale};
use crate::panels::widgets::said;
use crate::panels::{quantity, theme};
use egui::{
    Align2, Color32, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, WidgetType, pos2, vec2,
};

/// How high the chart is.
const HEIGHT: f32 = 246.0;

/// The chart, with what it says in words for whoever does not see it.
pub fn show(ui: &mut Ui, demo: &Curve, run: Option<&CurveRun>) {
    let none = vec![Vec::new(); demo.lines.len()];
    let points = run.map_or(&none[..], CurveRun::points);
    // Before all are run, the best so far is only the best so far.
    let best = run.filter(|run| run.done()).and_then(CurveRun::best);
    if demo.lines.len() > 1 {
        legend(ui, demo);
    }
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let whole = in_words(demo, points, best);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &whole));
    let chart = Chart { demo, points, best, rect, plot: plot_of(rect) };
    let painter = ui.painter_at(rect);
    chart.frame(&painter);
    chart.lines(&painter);
    chart.labels(&painter);
    chart.hover(ui, &painter, response);
    let failed = failures(demo, points);
    if !failed.is_empty() {
        ui.label(said(failed, theme::text(11.0), palette::BAD));
    }
}

fn legend(ui: &mut Ui, demo: &Curve) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        for (place, line) in demo.lines.iter().enumerate() {
            let (rect, _) = ui.allocate_exact_size(vec2(14.0, 10.0), Sense::hover());
            let stroke = Stroke::new(2.0, colour(demo, place));
            ui.painter().hline(rect.x_range(), rect.center().y, stroke);
            ui.label(said(&line.name, theme::text(12.0), palette::DIM));
            ui.add_space(10.0);
        }
    });
}

/// One line alone is the measure's own colour.
fn colour(demo: &Curve, line: usize) -> Color32 {
    if demo.lines.len() == 1 { palette::DECODE } else { WAYS[line % WAYS.len()] }
}

/// What stands under a point: the number or its word.
fn name(demo: &Curve, place: usize) -> String {
    let (value, word) = &demo.values[place];
    word.clone().unwrap_or_else(|| quantity::exact(*value))
}

/// A result in few digits.
fn figure(demo: &Curve, value: f64) -> String {
    if demo.reads == "hit_rate" { figures::percent(value) } else { quantity::of_report(&demo.reads, value) }
}

fn in_words(demo: &Curve, points: &[Vec<Point>], best: Option<usize>) -> String {
    let mut text = demo.title.clone();
    for (line, points) in demo.lines.iter().zip(points) {
        let values = points.iter().enumerate().map(|(place, point)| {
            let value = point.value.map_or_else(|| figures::NONE.into(), |value| figure(demo, value));
            format!("{} {value}", name(demo, place))
        });
        text += &format!(". {}: {}", line.name, values.collect::<Vec<_>>().join(", "));
    }
    if let Some(best) = best {
        text += &format!(". Best: {}", name(demo, best));
    }
    text
}

/// Where calls failed, a low value flatters: those that failed are not in it.
fn failures(demo: &Curve, points: &[Vec<Point>]) -> String {
    let failed = points.iter().flat_map(|points| points.iter().enumerate()).filter(|(_, point)| point.failed > 0);
    let failed: Vec<String> = failed
        .map(|(place, point)| {
            let share = figures::percent(point.failed as f64 / point.sent.max(1) as f64);
            format!("{} {share}", name(demo, place))
        })
        .collect();
    if failed.is_empty() {
        String::new()
    } else {
        format!("Hollow: calls failed ({}), and are not in the TTFT.", failed.join(", "))
    }
}

/// Text where nothing else stands yet, on a ground of its own so that it can be read over lines.
fn put(painter: &Painter, taken: &mut Vec<Rect>, room: Rect, text: std::sync::Arc<egui::Galley>) {
    if taken.iter().all(|other| !other.intersects(room.expand2(vec2(3.0, 0.0)))) {
        taken.push(room);
        painter.rect_filled(room.expand(1.0), 2.0, palette::GROUND.gamma_multiply(0.75));
        painter.galley(room.min, text, palette::DIM);
    }
}

fn plot_of(rect: Rect) -> Rect {
    Rect::from_min_max(rect.min + vec2(54.0, 20.0), rect.max - vec2(20.0, 38.0))
}

struct Chart<'a> {
    demo: &'a Curve,
    points: &'a [Vec<Point>],
    best: Option<usize>,
    rect: Rect,
    plot: Rect,
}

impl Chart<'_> {
    /// Where the values stand, from 0 to 1: equal ratios are equally far apart, and a word follows where the numbers end.
    fn places(&self) -> Vec<f32> {
        let numbers = self.demo.values.iter().filter(|(_, word)| word.is_none()).map(|(value, _)| value.max(1e-9).ln());
        let (low, high) = numbers.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        let words = self.demo.values.iter().filter(|(_, word)| word.is_some()).count();
        let step = (high - low) / 8.0;
        let span = (high - low + step * words as f64).max(1e-9);
        let mut after = high;
        let place = |(value, word): &(f64, Option<String>)| {
            let x = if word.is_some() {
                after += step;
                after
            } else {
                value.max(1e-9).ln()
            };
            ((x - low) / span) as f32
        };
        self.demo.values.iter().map(place).collect()
    }

    /// The lowest and the highest value shown, and where lines are drawn.
    fn scale(&self) -> (f64, f64, Vec<f64>) {
        match self.demo.scale {
            Scale::Linear if self.demo.reads == "hit_rate" => (0.0, 1.0, vec![0.0, 0.25, 0.5, 0.75, 1.0]),
            Scale::Linear => {
                let top = self.values().fold(0.0, f64::max).max(1e-9) * 1.1;
                (0.0, top, vec![0.0, top / 2.0, top])
            }
            Scale::Log => {
                let (low, high) = self.values().fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
                let (low, high) = if low <= high && low > 0.0 { (low, high) } else { (1e3, 1e4) };
                // From a round number below to one above, so that the scale seldom changes as points come.
                let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
                let round: Vec<f64> =
                    decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|times| times * 10_f64.powi(decade))).collect();
                let low = round.iter().copied().rfind(|mark| *mark <= low * 1.001).unwrap_or(low);
                let high = round.iter().copied().find(|mark| *mark >= high * 0.999 && *mark > low).unwrap_or(high);
                (low, high, round.into_iter().filter(|mark| (low..=high).contains(mark)).collect())
            }
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().flatten().filter_map(|point| point.value)
    }

    fn height(&self, value: f64) -> f32 {
        let (low, high, _) = self.scale();
        let share = match self.demo.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value.max(1e-9) / low).ln() / (high / low).ln(),
        };
        self.plot.bottom() - self.plot.height() * share.clamp(0.0, 1.0) as f32
    }

    fn x(&self, place: f32) -> f32 {
        self.plot.left() + self.plot.width() * place
    }

    /// The axes, and what they measure.
    fn frame(&self, painter: &Painter) {
        for mark in self.scale().2 {
            let y = self.height(mark);
            painter.hline(self.plot.x_range().expand(8.0), y, Stroke::new(1.0, palette::LINE.gamma_multiply(0.6)));
            let at = pos2(self.plot.left() - 14.0, y);
            // A mark is a round number.
            let text = figure(self.demo, mark).replace(".00 ", " ").replace(".0 ", " ");
            painter.text(at, Align2::RIGHT_CENTER, text, theme::mono(10.0), palette::FAINT);
        }
        self.names(painter);
        let at = pos2(self.plot.center().x, self.rect.bottom() - 7.0);
        painter.text(at, Align2::CENTER_CENTER, &self.demo.axis, theme::text(11.0), palette::DIM);
    }

    /// What stands below the places, as many as there is room for.
    fn names(&self, painter: &Painter) {
        let mut taken: Vec<Rect> = Vec::new();
        let places = self.places();
        for place in self.by_rank((0..places.len()).collect()) {
            let text = painter.layout_no_wrap(name(self.demo, place), theme::mono(10.0), palette::DIM);
            let room = Rect::from_center_size(pos2(self.x(places[place]), self.plot.bottom() + 11.0), text.size());
            put(painter, &mut taken, room, text);
        }
    }

    /// The best one first, then both ends, then the others.
    fn by_rank(&self, mut places: Vec<usize>) -> Vec<usize> {
        let last = places.len().saturating_sub(1);
        places.sort_by_key(|&place| match place {
            place if self.best == Some(place) => 0,
            place if place == 0 || place == last => 1,
            _ => 2,
        });
        places
    }

    /// The points of a line that are there, on the screen.
    fn line(&self, line: usize) -> Vec<(usize, Pos2, &Point)> {
        let places = self.places();
        let points = self.points.get(line).map_or(&[][..], Vec::as_slice).iter().enumerate();
        points
            .filter_map(|(place, point)| Some((place, pos2(self.x(places[place]), self.height(point.value?)), point)))
            .collect()
    }

    fn lines(&self, painter: &Painter) {
        if let Some(best) = self.best {
            let x = self.x(self.places()[best]);
            let ends = [pos2(x, self.plot.top() - 6.0), pos2(x, self.plot.bottom())];
            painter.extend(Shape::dashed_line(&ends, Stroke::new(1.0, palette::GOOD.gamma_multiply(0.8)), 3.0, 3.0));
        }
        for line in 0..self.demo.lines.len() {
            let (points, colour) = (self.line(line), colour(self.demo, line));
            // What a word stands for is no number: the line to it is only a hint.
            for pair in points.windows(2) {
                let ends = [pair[0].1, pair[1].1];
                if self.demo.values[pair[1].0].1.is_some() {
                    painter.extend(Shape::dashed_line(&ends, Stroke::new(1.2, colour.gamma_multiply(0.6)), 4.0, 4.0));
                } else {
                    painter.line_segment(ends, Stroke::new(1.8, colour));
                }
            }
            for (place, at, point) in points {
                let best = self.best == Some(place);
                let colour = if best { palette::GOOD } else { colour };
                if point.failed > 0 {
                    painter.circle(at, 3.4, palette::GROUND, Stroke::new(1.6, palette::BAD));
                } else {
                    painter.circle_filled(at, if best { 4.6 } else { 3.2 }, colour);
                }
            }
        }
    }

    /// Values at the points, as many as there is room for.
    fn labels(&self, painter: &Painter) {
        let mut taken: Vec<Rect> = Vec::new();
        for line in 0..self.demo.lines.len() {
            let points = self.line(line);
            for index in self.by_rank((0..points.len()).collect()) {
                let (place, at, point) = points[index];
                let Some(value) = point.value else { continue };
                let best = self.best == Some(place);
                let (font, colour) =
                    if best { (theme::mono_strong(12.5), palette::GOOD) } else { (theme::mono(10.5), palette::DIM) };
                let text = painter.layout_no_wrap(figure(self.demo, value), font, colour);
                let room = Rect::from_center_size(at + self.beside(line, &points, index, text.size()), text.size());
                let over =
                    (self.rect.right() - room.right()).min(0.0) + (self.plot.left() - 8.0 - room.left()).max(0.0);
                put(painter, &mut taken, room.translate(vec2(over, 0.0)), text);
            }
        }
        if let Some(best) = self.best {
            let text = format!("sweet spot {}", name(self.demo, best));
            let text = painter.layout_no_wrap(text, theme::strong(11.0), palette::GOOD);
            let at = pos2(self.x(self.places()[best]), self.rect.top() + 6.0);
            painter.galley(Rect::from_center_size(at, text.size()).min, text, palette::GOOD);
        }
    }

    /// Where a value stands: on the side of its point where the line is not.
    fn beside(&self, line: usize, points: &[(usize, Pos2, &Point)], index: usize, text: Vec2) -> Vec2 {
        let here = points[index].1;
        let rise = |other: Option<&(usize, Pos2, &Point)>| other.map_or(0.0, |(_, at, _)| here.y - at.y);
        let before = rise(index.checked_sub(1).and_then(|before| points.get(before)));
        let after = rise(points.get(index + 1));
        // Of several lines the first has its values below, the others above. One alone has them above, but in a valley.
        let valley = before + after > 6.0 && before > -2.0 && after > -2.0;
        let below = if self.demo.lines.len() > 1 { line == 0 } else { valley };
        let slope = if valley { 0.0 } else { (before - after).clamp(-24.0, 24.0) / 24.0 };
        let (side, up) = if below { (-slope, 14.0) } else { (slope, -12.0) };
        vec2(side * text.x * 0.4, up)
    }

    /// Under the pointer: every value at the nearest place.
    fn hover(&self, ui: &Ui, painter: &Painter, response: Response) {
        let Some(pointer) = ui.input(|input| input.pointer.hover_pos()).filter(|_| response.hovered()) else { return };
        let places = self.places();
        let there = self.points.iter().map(Vec::len).min().unwrap_or(0);
        let near = |place: &usize| (self.x(places[*place]) - pointer.x).abs();
        let Some(place) = (0..there).min_by(|a, b| near(a).total_cmp(&near(b))) else { return };
        let x = self.x(places[place]);
        painter.vline(x, self.plot.y_range(), Stroke::new(1.0, palette::FAINT));
        let values = self.demo.lines.iter().zip(self.points).map(|(line, points)| {
            let value =
                points[place].value.map_or_else(|| figures::NONE.into(), |v| quantity::of_report(&self.demo.reads, v));
            format!("{}: {value}", line.name)
        });
        let text = format!("{}\n{}", name(self.demo, place), values.collect::<Vec<_>>().join("\n"));
        response.on_hover_text_at_pointer(text);
    }
}
