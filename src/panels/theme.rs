//! The fonts and the style of every panel: dark, quiet, exact.

use crate::canvas::palette;
use egui::epaint::text::FontTweak;
use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow, Stroke, TextStyle,
    Visuals,
};
use std::sync::Arc;

/// The family of headings and names.
pub fn semibold() -> FontFamily {
    FontFamily::Name("semibold".into())
}

/// The family of figures that count.
pub fn mono_semibold() -> FontFamily {
    FontFamily::Name("mono-semibold".into())
}

/// Text of this size.
pub fn text(size: f32) -> FontId {
    FontId::new(size, FontFamily::Proportional)
}

/// A heading or a name of this size.
pub fn strong(size: f32) -> FontId {
    FontId::new(size, semibold())
}

/// Figures of this size: all digits are equally wide, so that nothing moves when a number changes.
pub fn mono(size: f32) -> FontId {
    FontId::new(size, FontFamily::Monospace)
}

/// Figures that count.
pub fn mono_strong(size: f32) -> FontId {
    FontId::new(size, mono_semibold())
}

/// Gives a context the fonts and the style of the program.
pub fn install(ctx: &Context) {
    ctx.set_fonts(fonts());
    ctx.set_theme(egui::Theme::Dark);
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    ctx.all_styles_mut(|style| {
        style.visuals = visuals();
        style.text_styles = [
            (TextStyle::Heading, strong(20.0)),
            (TextStyle::Body, text(12.5)),
            (TextStyle::Button, text(12.5)),
            (TextStyle::Small, text(11.0)),
            (TextStyle::Monospace, mono(12.0)),
        ]
        .into();
        style.drag_value_text_style = TextStyle::Monospace;
        style.spacing.item_spacing = egui::vec2(8.0, 6.0);
        style.spacing.button_padding = egui::vec2(10.0, 4.0);
        style.spacing.interact_size = egui::vec2(28.0, 18.0);
        style.spacing.slider_rail_height = 4.0;
        style.spacing.window_margin = Margin::same(20);
        // A scroll bar lies over what it scrolls: that it comes or goes moves nothing.
        style.spacing.scroll =
            egui::style::ScrollStyle { floating_allocated_width: 0.0, ..egui::style::ScrollStyle::thin() };
        style.spacing.tooltip_width = 260.0;
        style.interaction.selectable_labels = false;
        style.interaction.tooltip_delay = 0.35;
        style.animation_time = 0.08;
    });
}

/// Draws every letter once in the sizes that the panels use, out of sight. A letter that is new reaches the graphics
/// device a frame late; so none is. A letter is another one at each quarter of a pixel: those of numbers, which change all
/// the time, are drawn often enough to have been at each.
pub fn warm_up(ctx: &Context) {
    let letters = (' '..='~').chain("×·…→−–".chars());
    let letters: String = letters.chain("0123456789.,:/%".chars().flat_map(|figure| [figure; 8])).collect();
    let texts = [10.0, 10.5, 11.0, 11.5, 12.0, 12.5, 13.0, 13.5].map(text);
    let strongs = [10.5, 11.0, 12.0, 12.5, 13.0, 13.5, 14.0, 16.0, 20.0].map(strong);
    let figures = [mono(10.0), mono(10.5), mono(12.0), mono(12.5), mono(13.0), mono_strong(12.5), mono_strong(13.0)];
    ctx.fonts_mut(|fonts| {
        for font in texts.into_iter().chain(strongs).chain(figures) {
            fonts.layout_no_wrap(letters.clone(), font, Color32::WHITE);
        }
        for large in [26.0, 32.0].map(mono_strong) {
            fonts.layout_no_wrap("0123456789. %–".into(), large, Color32::WHITE);
        }
    });
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let mut add = |name: &str, bytes: &'static [u8], tweak: FontTweak| {
        fonts.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes).tweak(tweak)));
    };
    add("inter", include_bytes!("../../assets/fonts/Inter-Regular.ttf"), FontTweak::default());
    add("inter-semibold", include_bytes!("../../assets/fonts/Inter-SemiBold.ttf"), FontTweak::default());
    add("mono", include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf"), FontTweak::default());
    add("mono-semibold", include_bytes!("../../assets/fonts/JetBrainsMono-SemiBold.ttf"), FontTweak::default());
    let mut family = |family: FontFamily, names: [&str; 2]| {
        fonts.families.insert(family, names.iter().map(|name| (*name).to_owned()).collect());
    };
    family(FontFamily::Proportional, ["inter", "mono"]);
    family(FontFamily::Monospace, ["mono", "inter"]);
    family(semibold(), ["inter-semibold", "mono-semibold"]);
    family(mono_semibold(), ["mono-semibold", "inter-semibold"]);
    fonts
}

fn visuals() -> Visuals {
    let mut visuals = Visuals::dark();
    visuals.panel_fill = palette::PANEL;
    visuals.window_fill = palette::PANEL;
    visuals.window_stroke = Stroke::new(1.0, palette::LINE);
    visuals.window_corner_radius = CornerRadius::same(10);
    visuals.window_shadow = Shadow { offset: [0, 12], blur: 40, spread: 0, color: Color32::from_black_alpha(150) };
    visuals.popup_shadow = Shadow { offset: [0, 4], blur: 14, spread: 0, color: Color32::from_black_alpha(120) };
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.extreme_bg_color = palette::GROUND;
    visuals.faint_bg_color = palette::CARD;
    visuals.hyperlink_color = palette::DECODE;
    visuals.warn_fg_color = palette::WARN;
    visuals.error_fg_color = palette::BAD;
    visuals.weak_text_color = Some(palette::DIM);
    visuals.handle_shape = egui::style::HandleShape::Circle;
    visuals.slider_trailing_fill = true;
    visuals.disabled_alpha = 0.5;
    visuals.selection.bg_fill = palette::DECODE.gamma_multiply(0.45);
    visuals.selection.stroke = Stroke::new(1.0, palette::DECODE);
    let edge = Stroke::new(1.0, palette::LINE);
    let widgets = &mut visuals.widgets;
    for widget in [
        &mut widgets.noninteractive,
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
        &mut widgets.open,
    ] {
        widget.corner_radius = CornerRadius::same(5);
        widget.expansion = 0.0;
        widget.bg_fill = palette::LINE;
        widget.weak_bg_fill = palette::CARD;
        widget.bg_stroke = Stroke::NONE;
        widget.fg_stroke = Stroke::new(1.0, palette::TEXT);
    }
    widgets.noninteractive.bg_stroke = edge;
    widgets.noninteractive.fg_stroke = Stroke::new(1.0, palette::TEXT);
    widgets.inactive.fg_stroke = Stroke::new(1.0, palette::TEXT);
    widgets.hovered.weak_bg_fill = palette::LINE;
    widgets.hovered.bg_stroke = edge;
    widgets.active.weak_bg_fill = palette::LINE;
    widgets.active.bg_stroke = Stroke::new(1.0, palette::DECODE);
    visuals
}
