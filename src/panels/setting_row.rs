//! One setting: name, reset, exact number, slider, and under it what there is to say.

use super::action::{Action, Deeds};
use super::quantity::{self, shown_per_unit};
use super::rules::Notes;
use super::theme;
use super::widgets::{Icon, draw_icon, focus_ring, meter, said};
use crate::blueprint::{Kind, Setting, Value};
use crate::canvas::palette;
use egui::{
    Align, Align2, ComboBox, DragValue, Frame, Label, Layout, Margin, Rect, Response, Sense, Slider, SliderClamping,
    Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, WidgetType, pos2, vec2,
};

/// What a setting is, whatever its value.
#[derive(Clone, Copy)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// The unit behind its number.
    pub unit: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// The range of its slider.
    pub slider: (f64, f64),
    /// What it does, in one sentence.
    pub help: &'static str,
}

impl About {
    /// As the table of settings says.
    pub fn of(setting: &Setting) -> Self {
        let Setting { name, kind, slider, help, .. } = *setting;
        Self { name, unit: if kind == Kind::Share { "%" } else { setting.unit }, kind, slider, help }
    }
}

/// What a row shows.
pub struct Row {
    /// The key that a change names; with an index where parts of a kind differ.
    pub key: String,
    /// What the setting is.
    pub about: About,
    /// What it is now.
    pub value: Value,
    /// What the level gives: where a reset goes.
    pub given: Value,
    /// May the player change it?
    pub open: bool,
    /// Has it the attention?
    pub focused: bool,
    /// Is the keyboard to go to it?
    pub enter: bool,
    /// What is said under it.
    pub notes: Notes,
    /// Why the last change of it was refused.
    pub refused: Option<String>,
}

/// How wide the field of the exact number is.
const FIELD: f32 = 84.0;
/// The room at the end of a slider that the reset button has when it is there.
const RESET: f32 = 20.0;

/// Shows the row. Returns whether it has drawn the attention to itself.
pub fn show(ui: &mut Ui, row: &Row, deeds: &mut Deeds) -> bool {
    let frame = Frame::new().inner_margin(Margin { left: 8, right: 8, top: 3, bottom: 3 }).corner_radius(6.0);
    let frame = if row.focused && row.open {
        frame.fill(palette::CARD).stroke(Stroke::new(1.0, palette::DECODE))
    } else {
        frame.stroke(Stroke::new(1.0, egui::Color32::TRANSPARENT))
    };
    let inner = frame.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        if row.focused {
            // The field stands out from the card that it now lies on.
            ui.visuals_mut().widgets.inactive.weak_bg_fill = palette::LINE.gamma_multiply(0.7);
        }
        let touched = if row.open { controls(ui, row, deeds) } else { locked(ui, row) };
        said_below(ui, row);
        touched
    });
    let clicked =
        ui.input(|input| input.pointer.primary_clicked()) && ui.rect_contains_pointer(inner.response.rect) && row.open;
    inner.inner || clicked
}

/// The room for the name and for the number, on one line.
fn line(ui: &mut Ui) -> (Rect, Rect) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::hover());
    let number = Rect::from_min_max(pos2(rect.right() - FIELD, rect.top()), rect.max);
    (Rect::from_min_max(rect.min, pos2(number.left() - 4.0, rect.bottom())), number)
}

fn name(ui: &mut Ui, row: &Row, room: Rect) -> egui::Id {
    let layout = Layout::left_to_right(Align::Center);
    let name = ui.scope_builder(UiBuilder::new().max_rect(room).layout(layout), |ui| {
        ui.add(Label::new(said(row.about.name, theme::text(12.0), palette::TEXT)).truncate())
    });
    name.inner.on_hover_text(row.about.help).id
}

fn controls(ui: &mut Ui, row: &Row, deeds: &mut Deeds) -> bool {
    let mut touched = false;
    let (name_room, number_room) = line(ui);
    let name = name(ui, row, name_room);
    // Numbers stand at the right, so that their digits are in columns.
    let layout = Layout::top_down(Align::Max);
    ui.scope_builder(UiBuilder::new().max_rect(number_room).layout(layout), |ui| {
        touched |= match row.about.kind {
            Kind::Choice(words) => choice(ui, row, words, name, deeds),
            _ => number(ui, row, name, deeds),
        };
    });
    let changed = row.value != row.given;
    if row.about.kind.bounds().is_some() || changed {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            if row.about.kind.bounds().is_some() {
                touched |= slider(ui, row, name, deeds);
            } else {
                ui.add_space(ui.available_width() - RESET);
            }
            if changed && reset(ui, row).clicked() {
                deeds.change(&row.key, row.given.to_string());
                touched = true;
            }
        });
    }
    touched
}

/// A locked setting: its name, its value, and how far along its range that is.
fn locked(ui: &mut Ui, row: &Row) -> bool {
    let (name_room, number_room) = line(ui);
    let value = match row.value {
        Value::Word(word) => word.to_owned(),
        Value::Number(_) => format!("{}{}", quantity::exact(shown(row)), suffix(row)),
    };
    let painter = ui.painter();
    let name =
        painter.text(name_room.left_center(), Align2::LEFT_CENTER, row.about.name, theme::text(12.0), palette::DIM);
    draw_icon(painter, Icon::Lock, pos2(name.right() + 11.0, name_room.center().y - 1.0), palette::FAINT);
    let at = number_room.right_center() - vec2(6.0, 0.0);
    painter.text(at, Align2::RIGHT_CENTER, &value, theme::mono(12.0), palette::DIM);
    if let Some((low, high)) = row.about.kind.bounds().map(|_| row.about.slider) {
        let scale = shown_per_unit(row.about.kind);
        let share = (shown(row) / scale - low) / (high - low);
        let (rail, _) = ui.allocate_exact_size(vec2(ui.available_width(), 8.0), Sense::hover());
        let rail = Rect::from_center_size(rail.center() - vec2(RESET / 2.0, 0.0), vec2(rail.width() - RESET, 3.0));
        meter(ui.painter(), rail, share as f32, None, palette::FAINT);
    }
    let whole = name_room.union(number_room);
    let response = ui.interact(whole, ui.id().with((&row.key, "locked")), Sense::hover());
    let said = format!("{}: {value}, locked in this problem", row.about.name);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, false, &said));
    response.on_hover_text(format!("Locked in this problem. {}", row.about.help));
    false
}

/// The button that goes back to what the level gives.
fn reset(ui: &mut Ui, row: &Row) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(RESET, 14.0), Sense::click());
    let given = quantity::of_setting(row.about.kind, row.given);
    let name = format!("Reset {} to {given}", row.about.name);
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
    let colour = if response.hovered() { palette::TEXT } else { palette::DECODE };
    ui.painter().rect_stroke(rect.expand2(vec2(0.0, 2.0)), 4.0, focus_ring(&response), StrokeKind::Inside);
    draw_icon(ui.painter(), Icon::Reset, rect.center() + vec2(2.0, 0.0), colour);
    response.on_hover_text(format!("Back to {given}, as given"))
}

/// What is shown of a number: shares in per cent.
fn shown(row: &Row) -> f64 {
    row.value.number().unwrap_or(0.0) * shown_per_unit(row.about.kind)
}

/// What stands behind the number: its unit, one of which is a `core` and not a `cores`.
fn suffix(row: &Row) -> String {
    let unit = row.about.unit;
    let unit = match (row.about.kind, unit.strip_suffix('s')) {
        (Kind::Count(..), Some(one)) if row.value == Value::Number(1.0) => one,
        _ => unit,
    };
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}

/// Hands on a number as it was shown, if it is another one and the setting can take it.
fn send(row: &Row, shown: f64, deeds: &mut Deeds) {
    let number = match row.about.kind {
        Kind::Count(..) => shown.round(),
        // A hundredth of a per cent is exact enough, and free of the noise of the division.
        Kind::Share => (shown * 100.0).round() / 1e4,
        _ => shown,
    };
    if Value::Number(number) != row.value && row.about.kind.admits(Value::Number(number)) {
        deeds.change(&row.key, Value::Number(number).to_string());
    }
}

fn number(ui: &mut Ui, row: &Row, name: egui::Id, deeds: &mut Deeds) -> bool {
    let mut value = shown(row);
    let scale = shown_per_unit(row.about.kind);
    let (low, high) = row.about.kind.bounds().unwrap_or((0.0, 1.0));
    let span = (row.about.slider.1 - row.about.slider.0) * scale;
    let speed =
        if matches!(row.about.kind, Kind::Count(..) | Kind::Share) { (span / 256.0).max(0.2) } else { span / 256.0 };
    ui.spacing_mut().interact_size = vec2(FIELD, 20.0);
    ui.spacing_mut().button_padding.x = 6.0;
    let suffix = said(suffix(row), theme::mono(12.0), palette::DIM);
    let field = DragValue::new(&mut value)
        .range(low * scale..=high * scale)
        .speed(speed)
        .suffix(suffix)
        .custom_formatter(|number, _| quantity::exact(number))
        .custom_parser(quantity::read)
        .update_while_editing(false);
    let response = ui.add(field).labelled_by(name);
    let touched = response.gained_focus() || response.dragged();
    if response.changed() {
        send(row, value, deeds);
    }
    touched || response.changed()
}

fn slider(ui: &mut Ui, row: &Row, name: egui::Id, deeds: &mut Deeds) -> bool {
    let scale = shown_per_unit(row.about.kind);
    let (low, high) = (row.about.slider.0 * scale, row.about.slider.1 * scale);
    let mut value = shown(row);
    let step = step_of(row.about.kind, high - low);
    let width = ui.available_width() - RESET;
    ui.spacing_mut().slider_width = width;
    ui.spacing_mut().interact_size.y = 14.0;
    ui.visuals_mut().selection.bg_fill = palette::DECODE;
    let wanted = Slider::new(&mut value, low..=high)
        .show_value(false)
        .step_by(step)
        .clamping(SliderClamping::Never)
        .trailing_fill(true);
    let response = ui.add_sized(vec2(width, 14.0), wanted).labelled_by(name);
    if row.enter {
        response.request_focus();
    }
    // A slider has no use for Space: the game has.
    if response.has_focus() && ui.input(|input| input.modifiers.is_none() && input.key_pressed(egui::Key::Space)) {
        deeds.act(Action::TogglePause);
    }
    paint_handle(ui, &response, ((value - low) / (high - low)) as f32);
    let touched = response.gained_focus() || response.dragged() || response.changed();
    if response.changed() {
        // The start of a range is not always on the grid: 1 to 256 in steps of 1 is, 1 to 4,000 in steps of 20 is not.
        let on_grid = if step > 1.0 { (value / step).round() * step } else { value };
        send(row, on_grid.clamp(low, high), deeds);
    }
    touched
}

/// The step of a slider: whole numbers for counts and per cents, else a 250th to a 100th of the range.
fn step_of(kind: Kind, span: f64) -> f64 {
    let fine = 10_f64.powf((span / 250.0).log10().ceil());
    match kind {
        Kind::Count(..) | Kind::Share => fine.max(1.0),
        _ => fine,
    }
}

/// A light handle over the one that egui draws in the colour of the rail.
fn paint_handle(ui: &Ui, response: &Response, share: f32) {
    let radius = response.rect.height() / 2.5;
    let (left, right) = (response.rect.left() + radius, response.rect.right() - radius);
    let at = pos2(left + (right - left) * share.clamp(0.0, 1.0), response.rect.center().y);
    let colour = if ui.is_enabled() { palette::TEXT } else { palette::FAINT };
    ui.painter().circle_filled(at, 6.0, colour);
    if response.has_focus() {
        ui.painter().circle_stroke(at, 8.0, Stroke::new(1.5, palette::DECODE));
    }
}

fn choice(ui: &mut Ui, row: &Row, words: &'static [&'static str], name: egui::Id, deeds: &mut Deeds) -> bool {
    let Value::Word(now) = row.value else { return false };
    let mut picked = now;
    let combo = ComboBox::from_id_salt(&row.key).width(FIELD).selected_text(now);
    let response = combo.show_ui(ui, |ui| {
        for word in words {
            ui.selectable_value(&mut picked, word, *word);
        }
    });
    let response = response.response.labelled_by(name);
    if row.enter {
        response.request_focus();
    }
    if picked != now {
        deeds.change(&row.key, picked);
    }
    picked != now || response.clicked()
}

/// What is said below: a refusal before a warning before a lock before the rule; and the help of what has the attention.
fn said_below(ui: &mut Ui, row: &Row) {
    let notes = &row.notes;
    let (text, colour) = match (&row.refused, &notes.warning, &notes.rule) {
        (Some(refusal), ..) => (refusal.as_str(), palette::BAD),
        (_, Some(warning), _) => (warning.as_str(), palette::WARN),
        (.., Some(rule)) => (rule.as_str(), if row.open { palette::DIM } else { palette::FAINT }),
        _ => ("", palette::DIM),
    };
    if !text.is_empty() {
        let mark = if notes.warning.is_some() || row.refused.is_some() { "▶ " } else { "" };
        ui.label(said(format!("{mark}{text}"), theme::text(10.5), colour));
    }
    if row.focused && row.open {
        ui.label(said(row.about.help, theme::text(11.0), palette::DIM).line_height(Some(15.0)));
    }
}
