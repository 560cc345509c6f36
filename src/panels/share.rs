//! Save and share: canvases by name, a fleet as a code, and codes that somebody else made.

use super::action::{Deeds, Keep};
use super::theme;
use super::view::{PlayState, PlayView};
use super::widgets::{main_button, modal, plain_button, said, scroll_area, section};
use crate::canvas::palette;
use egui::{Context, TextEdit, Ui};

/// What the window remembers while it is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShareState {
    /// The name to save by.
    pub name: String,
    /// The code to open.
    pub code: String,
    /// What was copied.
    copied: Option<&'static str>,
}

/// What the window shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShareView<'a> {
    /// The fleet as a code.
    pub code: &'a str,
    /// The address of the page that opens it; none where there is no page.
    pub link: Option<&'a str>,
    /// The names of the canvases that are saved.
    pub saved: &'a [String],
    /// What came of the last thing that was asked for.
    pub notice: Option<&'a str>,
}

/// The window over everything else, if it is open.
pub fn show(ctx: &Context, view: &PlayView, state: &mut PlayState, deeds: &mut Deeds) {
    let Some(share) = &mut state.share else { return };
    let room = ctx.content_rect().size();
    let mut close = false;
    let response = modal(ctx, "save and share", 560.0, |ui| {
        ui.label(said("Save and share", theme::strong(18.0), palette::TEXT));
        ui.add_space(6.0);
        scroll_area(room.y - 150.0).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 12.0);
            save(ui, view, share, deeds);
            ui.add_space(12.0);
            export(ui, view, share);
            ui.add_space(12.0);
            import(ui, share, deeds);
        });
        if let Some(notice) = view.share.notice {
            ui.add_space(6.0);
            ui.label(said(notice, theme::text(12.5), palette::WARN));
        }
        ui.add_space(8.0);
        ui.horizontal(|ui| close = main_button(ui, "Close").clicked());
    });
    if close || response.should_close() {
        state.share = None;
    }
}

/// A name to save by, and what is saved already.
fn save(ui: &mut Ui, view: &PlayView, share: &mut ShareState, deeds: &mut Deeds) {
    section(ui, "Saved by name");
    ui.horizontal(|ui| {
        let field = TextEdit::singleline(&mut share.name)
            .hint_text("a name")
            .char_limit(60)
            .vertical_align(egui::Align::Center);
        let field = ui.add_sized([ui.available_width() - 112.0, 30.0], field);
        field.widget_info(|| labelled("Name"));
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        if plain_button(ui, "Save").clicked() || entered {
            deeds.keep(Keep::Save(share.name.clone()));
        }
    });
    for name in view.share.saved {
        ui.horizontal(|ui| {
            ui.label(said(name, theme::text(12.5), palette::TEXT));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let delete = ui.button("Delete");
                delete.widget_info(|| button(&format!("Delete {name}")));
                if delete.clicked() {
                    deeds.keep(Keep::Delete(name.clone()));
                }
                let open = ui.button("Open");
                open.widget_info(|| button(&format!("Open {name}")));
                if open.clicked() {
                    deeds.keep(Keep::Open(name.clone()));
                }
            });
        });
    }
    if view.share.saved.is_empty() {
        ui.label(said("Nothing yet. What you draw is kept without a name, too.", theme::text(11.5), palette::FAINT));
    }
}

/// The fleet as a code, to be copied.
fn export(ui: &mut Ui, view: &PlayView, share: &mut ShareState) {
    section(ui, "Export");
    let what = if view.level.is_canvas() { "This canvas" } else { "This solution" };
    ui.label(said(
        format!("{what} as a code: paste it anywhere, open it here or with warmpath run."),
        theme::text(11.5),
        palette::DIM,
    ));
    let mut code = view.share.code;
    let field = TextEdit::multiline(&mut code).desired_rows(3).font(egui::TextStyle::Monospace);
    let field = ui.add_sized([ui.available_width(), 54.0], field);
    field.widget_info(|| labelled("Code"));
    ui.horizontal(|ui| {
        if plain_button(ui, "Copy code").clicked() {
            ui.ctx().copy_text(view.share.code.to_owned());
            share.copied = Some("code");
        }
        if let Some(link) = view.share.link
            && plain_button(ui, "Copy link").clicked()
        {
            ui.ctx().copy_text(link.to_owned());
            share.copied = Some("link");
        }
        if let Some(what) = share.copied {
            ui.label(said(format!("The {what} is in the clipboard."), theme::text(11.5), palette::GOOD));
        }
    });
}

/// A field for a code that somebody else made.
fn import(ui: &mut Ui, share: &mut ShareState, deeds: &mut Deeds) {
    section(ui, "Import");
    let field = TextEdit::multiline(&mut share.code).desired_rows(2).hint_text("WP1-…");
    let field = ui.add_sized([ui.available_width(), 40.0], field.font(egui::TextStyle::Monospace));
    field.widget_info(|| labelled("Code to open"));
    ui.horizontal(|ui| {
        if plain_button(ui, "Open code").clicked() {
            deeds.keep(Keep::Import(share.code.clone()));
        }
        ui.label(said("It takes the place of what is here; Undo brings that back.", theme::text(11.5), palette::FAINT));
    });
}

fn labelled(name: &str) -> egui::WidgetInfo {
    egui::WidgetInfo::labeled(egui::WidgetType::TextEdit, true, name)
}

fn button(name: &str) -> egui::WidgetInfo {
    egui::WidgetInfo::labeled(egui::WidgetType::Button, true, name)
}
