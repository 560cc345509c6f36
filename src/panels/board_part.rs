//! What can be done with a part of a board beside its settings: presets of traffic, links, duplicate, delete.

use super::action::Deeds;
use super::theme;
use super::view::{PlayState, PlayView};
use super::widgets::{focus_ring, said, section, word_button};
use crate::blueprint::{Edit, Part, PartId};
use crate::canvas::palette;
use crate::level::presets;
use egui::{Align, ComboBox, Layout, Sense, StrokeKind, Ui, WidgetInfo, WidgetType, pos2, vec2};

/// All of it, for the selected part.
pub fn show(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let id = state.selected;
    let frame = egui::Frame::new().inner_margin(egui::Margin { left: 8, right: 8, top: 2, bottom: 6 });
    frame.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 4.0;
        if let Some(missing) = view.blueprint.missing(id) {
            let colour = if missing.starts_with("leads") { palette::WARN } else { palette::DIM };
            let mut words = missing.to_owned();
            words.replace_range(..1, &missing[..1].to_uppercase());
            ui.label(said(format!("{words}."), theme::text(12.0), colour));
        }
        if id.part == Part::Traffic && view.level.is_canvas() {
            preset(ui, view, id, deeds);
        }
        links(ui, view, id, deeds);
        own(ui, view, state, deeds);
    });
}

/// Which preset the source's settings are, to choose another one.
fn preset(ui: &mut Ui, view: &PlayView, id: PartId, deeds: &mut Deeds) {
    section(ui, "Preset");
    let settings = &view.blueprint.traffics[id.index];
    let now = presets().iter().find(|preset| preset.settings == *settings);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for preset in presets() {
            let chosen = now.is_some_and(|now| now.name == preset.name);
            if word_button(ui, &preset.name, chosen, 60.0).on_hover_text(&preset.about).clicked() && !chosen {
                let (name, settings) = (preset.name.clone(), preset.settings.clone());
                deeds.edit(Edit::Preset { traffic: id.index, name, settings });
            }
        }
    });
    let words = now.map_or("Custom: the settings below.", |preset| preset.about.as_str());
    ui.label(said(words, theme::text(11.5), palette::DIM));
}

/// Whom the part sends to: each to be unlinked, and what else it may be linked to.
fn links(ui: &mut Ui, view: &PlayView, id: PartId, deeds: &mut Deeds) {
    if id.part == Part::Replica {
        return;
    }
    let blueprint = view.blueprint;
    let next: Vec<PartId> = blueprint.next_of(id).collect();
    ui.horizontal(|ui| {
        section(ui, "Sends to");
        let may = |to: &PartId| id.part.may_send_to(to.part) && !next.contains(to);
        let more: Vec<PartId> = blueprint.ids().filter(may).collect();
        if more.is_empty() {
            return;
        }
        let menu = ComboBox::from_id_salt(("link", id)).width(70.0);
        let menu = menu.selected_text(said("link to", theme::text(12.0), palette::DIM)).show_ui(ui, |ui| {
            let replicas = more.iter().filter(|to| to.part == Part::Replica).count();
            if replicas > 1 && ui.selectable_label(false, format!("all {replicas} replicas")).clicked() {
                deeds.edit(Edit::LinkAll { from: id });
            }
            for to in more {
                if ui.selectable_label(false, blueprint.name(to)).clicked() {
                    deeds.edit(Edit::Link { from: id, to });
                }
            }
        });
        menu.response.widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, "Link to"));
    });
    if next.is_empty() {
        ui.label(said("nothing yet", theme::text(12.0), palette::FAINT));
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        for to in &next {
            if unlink(ui, &blueprint.name(*to)) {
                deeds.edit(Edit::Unlink { from: id, to: *to });
            }
        }
        if next.len() > 2 && word_button(ui, "unlink all", false, 60.0).clicked() {
            deeds.edit(Edit::UnlinkAll { from: id });
        }
    });
}

/// A link as a chip; a click on it takes it away. Returns whether that was done.
fn unlink(ui: &mut Ui, name: &str) -> bool {
    let galley = ui.painter().layout_no_wrap(name.to_owned(), theme::text(12.0), palette::TEXT);
    let (rect, response) = ui.allocate_exact_size(galley.size() + vec2(30.0, 8.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Unlink {name}")));
    let fill = if response.hovered() { palette::LINE } else { palette::CARD };
    ui.painter().rect(rect, 5.0, fill, focus_ring(&response), StrokeKind::Inside);
    ui.painter().galley(rect.min + vec2(8.0, 4.0), galley, palette::TEXT);
    let (sign, arm) = (pos2(rect.right() - 11.0, rect.center().y), 3.0);
    for way in [vec2(arm, arm), vec2(arm, -arm)] {
        ui.painter().line_segment([sign - way, sign + way], egui::Stroke::new(1.4, palette::DIM));
    }
    response.on_hover_text("Unlink").clicked()
}

/// Duplicate and delete what is chosen.
fn own(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let mut parts: Vec<PartId> = state.choice.parts.iter().copied().collect();
    if !parts.contains(&state.selected) {
        parts = vec![state.selected];
    }
    let several = if parts.len() > 1 { format!(" {} parts", parts.len()) } else { String::new() };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let sold = parts.iter().all(|id| id.part != Part::Traffic || view.level.is_canvas());
            if sold && word_button(ui, &format!("Duplicate{several}"), false, 84.0).on_hover_text("Ctrl+D").clicked() {
                deeds.edit(Edit::Duplicate { parts: parts.clone() });
            }
            if parts.iter().any(|id| view.level.gives(*id)) {
                ui.label(said("given by the problem", theme::text(11.5), palette::FAINT));
            } else if word_button(ui, &format!("Delete{several}"), false, 66.0).on_hover_text("Del").clicked() {
                deeds.edit(Edit::Delete { parts: parts.clone() });
            }
        });
    });
}
