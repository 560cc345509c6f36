//! The left panel of the blank canvas: how the fleet runs, and how to draw one.

use super::action::Deeds;
use super::view::PlayView;
use super::widgets::{plain_button, said, section};
use super::{decisions, quantity, theme};
use crate::blueprint::Edit;
use crate::canvas::{figures, palette};
use crate::sim::Reason;
use egui::{Grid, Ui, vec2};

/// The whole panel.
pub fn show(ui: &mut Ui, view: &PlayView, deeds: &mut Deeds) {
    if view.blueprint.parts() == 0 {
        return how(ui);
    }
    section(ui, "How it runs");
    figures_so_far(ui, view);
    failures(ui, view);
    lacking(ui, view);
    decisions::show(ui, view);
    ui.add_space(10.0);
    how(ui);
    ui.add_space(8.0);
    if plain_button(ui, "Clear the board").on_hover_text("Undo brings it back").clicked() {
        deeds.edit(Edit::Delete { parts: view.blueprint.ids().collect() });
    }
}

/// The report so far, and the same just now where the charts have it.
fn figures_so_far(ui: &mut Ui, view: &PlayView) {
    let (report, measures) = (view.report, view.measures);
    let rows: [(&str, &str, Option<f64>, Option<f64>); 6] = [
        ("KV hit rate", "hit_rate", report.hit_rate, measures.hit_rate),
        ("TTFT p50", "ttft_ms.p50", report.ttft_ms.p50, measures.ttft_ms.0),
        ("TTFT p99", "ttft_ms.p99", report.ttft_ms.p99, measures.ttft_ms.1),
        ("Task p50", "task_s.p50", report.task_s.p50, None),
        ("Answered", "throughput_rps", report.throughput_rps, None),
        ("Spills", "spills", Some(report.spills as f64), None),
    ];
    let faint = |text: &str| said(text, theme::text(10.5), palette::FAINT);
    Grid::new("how it runs").num_columns(3).spacing(vec2(12.0, 5.0)).show(ui, |ui| {
        ui.label("");
        right(ui, faint("so far"));
        right(ui, faint("now"));
        ui.end_row();
        for (name, key, so_far, now) in rows {
            let say = |value: Option<f64>| {
                value.map_or_else(|| figures::NONE.to_owned(), |value| quantity::of_report(key, value))
            };
            ui.label(said(name, theme::text(12.0), palette::DIM));
            right(ui, said(say(so_far), theme::mono(12.0), palette::TEXT));
            right(ui, said(if now.is_some() { say(now) } else { String::new() }, theme::mono(11.0), palette::DIM));
            ui.end_row();
        }
    });
}

/// A cell whose text ends where the others of its column end.
fn right(ui: &mut Ui, text: egui::RichText) {
    ui.allocate_ui_with_layout(vec2(58.0, 16.0), egui::Layout::right_to_left(egui::Align::Center), |ui| {
        ui.label(text);
    });
}

/// What was rejected so far, each reason with its count.
fn failures(ui: &mut Ui, view: &PlayView) {
    for reason in Reason::ALL {
        let count = view.report.rejected.get(reason.key()).and_then(serde_json::Value::as_u64).unwrap_or(0);
        if count > 0 {
            let words = format!("{} rejected: {}", figures::count(count), reason.words());
            ui.label(said(words, theme::text(12.0), palette::BAD));
        }
    }
}

/// Parts that calls cannot pass through.
fn lacking(ui: &mut Ui, view: &PlayView) {
    for id in view.blueprint.ids() {
        if let Some(missing) = view.blueprint.missing(id).filter(|missing| missing.starts_with("leads")) {
            let words = format!("{} {missing}.", view.blueprint.name(id));
            ui.label(said(words, theme::text(12.0), palette::WARN));
        }
    }
}

/// How to draw a fleet.
fn how(ui: &mut Ui) {
    section(ui, "How to draw a fleet");
    for line in [
        "Drag parts from the palette onto the board.",
        "Drag from the dot at the right of a part to the part that it is to send to.",
        "Drag a part to move it. Shift and drag frames several; Shift and click adds one.",
        "Click a link or a part and press Delete to take it away. Ctrl+Z takes anything back.",
        "Space runs it. Everything can be changed while it runs.",
    ] {
        ui.label(said(line, theme::text(12.0), palette::DIM).line_height(Some(17.0)));
        ui.add_space(2.0);
    }
}
