//! The right panel: the settings of the selected part.

use super::action::Deeds;
use super::board_part;
use super::rules;
use super::setting_row::{self, About, Row};
use super::theme;
use super::view::{PlayState, PlayView};
use super::widgets::{Icon, icon_button, said, word_button};
use crate::blueprint::{
    Address, Assignment, Blueprint, Edit, Kind, MOST_REPLICAS, Part, PartId, Piece, Replica, Setting, Value,
    settings_of,
};
use crate::canvas::{Choice, figures, palette};
use egui::{Align, CollapsingHeader, Layout, RichText, ScrollArea, Ui, vec2};

/// The settings of the router that are used every day come first, then these.
const LESSER: [&str; 3] = ["router.cpu_ms", "router.restart_s", "router.policy"];

/// The number of replicas, which is not a setting of any one part.
const REPLICAS: About = About {
    name: "Replicas",
    unit: "",
    kind: Kind::Count(1, MOST_REPLICAS as u64),
    slider: (1.0, 32.0),
    help: "How many replicas the fleet has, all set alike; those that come are empty.",
};

/// The whole panel.
pub fn show(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    if state.selected.index >= view.blueprint.count(state.selected.part) {
        let first = [Part::Router, Part::Balancer, Part::Replica, Part::Traffic];
        let there = first.into_iter().find(|part| view.blueprint.count(*part) > 0);
        let Some(part) = there else { return nothing(ui) };
        state.selected = PartId::new(part, 0);
    }
    let before = deeds.edits.len();
    whole(ui, view, state, deeds);
    if view.level.placing {
        for edit in &mut deeds.edits[before..] {
            for_all_chosen(view, &state.choice, edit);
        }
    }
}

/// There is no part yet.
fn nothing(ui: &mut Ui) {
    let frame = egui::Frame::new().inner_margin(8);
    frame.show(ui, |ui| {
        ui.label(said("Nothing is placed yet", theme::strong(14.0), palette::TEXT));
        let words = "Drag a part from the palette onto the board. Its settings will be here.";
        ui.label(said(words, theme::text(12.0), palette::DIM).line_height(Some(17.0)));
    });
}

/// Where several parts of a kind are chosen on a board, a setting of one of them is set on all of them.
fn for_all_chosen(view: &PlayView, choice: &Choice, edit: &mut Edit) {
    let Edit::Set(changes) = edit else { return };
    let [Assignment { key, value }] = changes.as_slice() else { return };
    let Ok(Address::Setting(setting, index)) = Address::parse(key) else { return };
    let own = PartId::new(setting.part, index.unwrap_or(0));
    let alike: Vec<PartId> = choice.parts.iter().copied().filter(|id| id.part == own.part).collect();
    if alike.len() < 2 || !alike.contains(&own) || view.blueprint.count(own.part) < 2 {
        return;
    }
    let key = |id: &PartId| format!("{}[{}].{}", id.part.key(), id.index, setting.field());
    *changes = alike.iter().map(|id| Assignment::new(key(id), value.clone())).collect();
}

fn whole(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    parts(ui, view, state);
    ui.add_space(2.0);
    let frame = egui::Frame::new().inner_margin(egui::Margin { left: 8, right: 14, top: 0, bottom: 0 });
    frame.show(ui, |ui| heading(ui, view, state.selected));
    ScrollArea::vertical().auto_shrink([false, false]).id_salt(("settings", state.selected.part)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        // The scroll bar, where there is one, has its own room.
        ui.set_max_width(ui.available_width() - 6.0);
        if view.level.placing {
            board_part::show(ui, view, state, deeds);
        }
        match state.selected.part {
            Part::Router => router(ui, view, state, deeds),
            part => all_settings(ui, view, state, part, deeds),
        }
    });
    // The setting that had the attention is not here: in the next frame the first one takes the keyboard, if there is one.
    state.enter_settings &= state.focus.take_if(|_| state.enter_settings).is_some();
}

/// Which part is shown, to choose another one.
fn parts(ui: &mut Ui, view: &PlayView, state: &mut PlayState) {
    ui.horizontal(|ui| {
        ui.add_space(8.0 - ui.spacing().item_spacing.x);
        ui.spacing_mut().item_spacing.x = 4.0;
        let names = [
            (Part::Traffic, "Traffic"),
            (Part::Balancer, "Balancer"),
            (Part::Router, "Router"),
            (Part::Replica, "Replicas"),
        ];
        let there = names.into_iter().filter(|(part, _)| view.blueprint.count(*part) > 0);
        let all = there.clone().count() == names.len();
        let width = if all { 50.0 } else { 62.0 };
        if all {
            ui.spacing_mut().button_padding.x = 2.0;
        }
        for (part, name) in there {
            if word_button(ui, name, state.selected.part == part, width).clicked() {
                select(state, PartId::new(part, 0));
            }
        }
        let count = view.blueprint.count(state.selected.part);
        if count > 1 {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if icon_button(ui, Icon::Next, "Next part", vec2(22.0, 26.0)).on_hover_text("Next  (])").clicked() {
                    select(state, PartId { index: (state.selected.index + 1) % count, ..state.selected });
                }
                if icon_button(ui, Icon::Back, "Previous part", vec2(22.0, 26.0))
                    .on_hover_text("Previous  ([)")
                    .clicked()
                {
                    select(state, PartId { index: (state.selected.index + count - 1) % count, ..state.selected });
                }
            });
        }
    });
}

fn select(state: &mut PlayState, id: PartId) {
    state.selected = id;
    state.choice.only(id);
}

/// The name of the part and how it is doing.
fn heading(ui: &mut Ui, view: &PlayView, id: PartId) {
    let many = view.blueprint.count(id.part) > 1;
    let number = if many { format!(" {}", id.index + 1) } else { String::new() };
    let (name, doing) = match id.part {
        Part::Router => ("Inference router", router_doing(view, id.index)),
        Part::Replica => ("Replica", replica_doing(view, id.index)),
        Part::Traffic => ("Traffic", traffic_doing(view, id.index)),
        Part::Balancer => ("Load balancer", String::new()),
    };
    ui.horizontal(|ui| {
        // A source of traffic may have a name of its own.
        let name = view.blueprint.names.get(&id).cloned().unwrap_or_else(|| format!("{name}{number}"));
        ui.label(said(name, theme::strong(14.0), palette::TEXT));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(said(doing, theme::mono(10.5), palette::DIM));
        });
    });
}

fn router_doing(view: &PlayView, index: usize) -> String {
    let Some(router) = view.measures.routers.get(index) else { return String::new() };
    if !router.up {
        return "down after a crash".into();
    }
    format!("{} in slots · {} wait", figures::count(router.slots_taken), figures::count(router.waiting))
}

fn replica_doing(view: &PlayView, index: usize) -> String {
    let Some(replica) = view.measures.replicas.get(index) else { return String::new() };
    let kv = figures::compact_tokens(replica.kv_tokens);
    format!("{} run · {} wait · KV {kv}", figures::count(replica.running), figures::count(replica.waiting))
}

fn traffic_doing(view: &PlayView, index: usize) -> String {
    let rate = view.measures.traffics.get(index).copied().flatten();
    rate.map_or_else(String::new, |rate| format!("{} calls/s", figures::rate(rate)))
}

/// The component page's settings, the number of replicas, and the lesser ones folded away.
fn router(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let id = state.selected;
    let (main, lesser): (Vec<_>, Vec<_>) =
        settings_of(Part::Router).iter().partition(|setting| !LESSER.contains(&setting.key));
    for setting in main {
        // The page lists the share of the shared prefix before the spill.
        if setting.key == "router.spill"
            && let Some(shared) = Setting::find("traffic.shared")
            && !view.blueprint.traffics.is_empty()
        {
            row(ui, view, state, shared, PartId::new(Part::Traffic, 0), deeds);
        }
        row(ui, view, state, setting, id, deeds);
    }
    replicas(ui, view, state, deeds);
    ui.add_space(2.0);
    let title = RichText::new("More").font(theme::text(12.0)).color(palette::DIM);
    CollapsingHeader::new(title).id_salt("more settings").show(ui, |ui| {
        for setting in lesser {
            row(ui, view, state, setting, id, deeds);
        }
    });
}

/// Every setting of a part.
fn all_settings(ui: &mut Ui, view: &PlayView, state: &mut PlayState, part: Part, deeds: &mut Deeds) {
    let id = state.selected;
    if part == Part::Replica && !view.level.placing {
        let text = if alike(view.blueprint) { "All replicas are set alike." } else { "Set for this replica alone." };
        ui.label(said(text, theme::text(11.0), palette::FAINT));
        replicas(ui, view, state, deeds);
    }
    for setting in settings_of(part) {
        row(ui, view, state, setting, id, deeds);
    }
}

fn alike(blueprint: &Blueprint) -> bool {
    blueprint.replicas.windows(2).all(|pair| pair[0] == pair[1])
}

/// The key that a change of this setting on this part names.
fn key_of(view: &PlayView, setting: &Setting, id: PartId) -> String {
    let indexed = match id.part {
        Part::Replica if !view.level.placing => !alike(view.blueprint),
        part => view.blueprint.count(part) > 1,
    };
    if indexed { format!("{}[{}].{}", id.part.key(), id.index, setting.field()) } else { setting.key.to_owned() }
}

fn row(ui: &mut Ui, view: &PlayView, state: &mut PlayState, setting: &Setting, id: PartId, deeds: &mut Deeds) {
    if id.index >= view.blueprint.count(id.part) {
        return;
    }
    let key = key_of(view, setting, id);
    let given = &view.level.blueprint;
    let given_index = id.index.min(given.count(id.part).saturating_sub(1));
    let refused = view.refused_setting().filter(|refusal| refers_to(&refusal.key, setting.key));
    let open = view.level.is_open(setting.key);
    let row = Row {
        about: About::of(setting),
        value: setting.get(view.blueprint, id.index),
        given: if given.count(id.part) == 0 || view.level.placing && !view.level.gives(id) {
            bought(view, setting, id)
        } else {
            setting.get(given, given_index)
        },
        open,
        focused: state.focus.as_deref() == Some(key.as_str()),
        enter: open && enters(state, &key),
        notes: rules::notes(view, setting.key, id),
        refused: refused.map(|refusal| format!("expected {}", refusal.expected)),
        key,
    };
    if setting_row::show(ui, &row, deeds) {
        state.focus = Some(row.key);
    }
}

/// What a setting is on a part that was just bought.
fn bought(view: &PlayView, setting: &Setting, id: PartId) -> Value {
    let large = id.part == Part::Replica && view.blueprint.replicas.get(id.index).is_some_and(|replica| replica.large);
    let shop = Blueprint { replicas: vec![Replica::bought(large)], ..Blueprint::default() };
    if large { setting.get(&shop, 0) } else { setting.default }
}

/// Does a key as it was written name this setting?
fn refers_to(written: &str, plain: &str) -> bool {
    written == plain || Address::parse(written).is_ok_and(|address| address.plain_key() == plain)
}

/// Is the keyboard to go to this setting? Then it goes to no other.
fn enters(state: &mut PlayState, key: &str) -> bool {
    let here = state.enter_settings && state.focus.as_deref().is_none_or(|focus| focus == key);
    state.enter_settings &= !here;
    here
}

/// The number of replicas, as a row of its own.
fn replicas(ui: &mut Ui, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let count = view.blueprint.replicas.len();
    if view.level.placing {
        return;
    }
    let given = view.level.blueprint.replicas.len();
    if count == 0 {
        return;
    }
    let refused = view.refused_setting().filter(|refusal| refusal.key == "replicas");
    let open = view.level.is_open("replicas");
    let cost = open.then(|| format!("each one more costs {} cr", Piece::Replica.credits()));
    let row = Row {
        key: "replicas".into(),
        about: REPLICAS,
        value: Value::Number(count as f64),
        given: Value::Number(given as f64),
        open,
        focused: state.focus.as_deref() == Some("replicas"),
        enter: open && enters(state, "replicas"),
        notes: rules::Notes { rule: cost, warning: None },
        refused: refused.map(|refusal| format!("expected {}", refusal.expected)),
    };
    if setting_row::show(ui, &row, deeds) {
        state.focus = Some(row.key);
    }
}
