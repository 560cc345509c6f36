//! The window: a renderer, egui, and the systems that show the screens and pass on what the person does.

use super::demos::Demos;
use super::frame_time::FrameTime;
use super::remembered::Remembered;
use super::screens::{Levels, Screen};
use super::session::Session;
use crate::canvas::palette;
use crate::panels::{
    self, Action, ComponentsState, ComponentsView, Deeds, Keep, LevelsView, PlayState, PlayerEdit, ShareView,
};
use bevy::ecs::system::SystemParam;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::window::{PresentMode, PrimaryWindow, RequestRedraw, WindowResolution};
use bevy::winit::{UpdateMode, WinitSettings};
use bevy_egui::{EguiContext, EguiContexts, EguiGlobalSettings, EguiPlugin, EguiPreUpdateSet, EguiPrimaryContextPass};
use egui::{LayerId, Ui, UiBuilder};
use std::time::Duration;

/// How often a window in which nothing moves is drawn without a reason.
const IDLE: Duration = Duration::from_millis(250);

/// What the window is to be.
#[derive(Clone, Copy)]
pub struct WindowSpec {
    /// Its size in logical pixels.
    pub size: (u32, u32),
    /// May it be resized, and does it follow the scale of the desktop? A picture's must not.
    pub fixed: bool,
    /// What is written to the log.
    pub log: &'static str,
}

/// What the panels and the canvas remember while a level is played.
#[derive(Resource, Default)]
pub struct PlayScreen {
    /// The panels' memory.
    pub state: PlayState,
    /// The canvas.
    pub canvas: super::picture::FleetCanvas,
    /// For pictures: how much time passes with each frame, whatever really does, in seconds.
    pub fixed_frame_s: Option<f32>,
}

/// What the component page remembers while it is open.
#[derive(Resource, Default)]
struct ComponentsPage(ComponentsState);

/// The window around the game.
pub fn window_plugin(app: &mut App, spec: WindowSpec) {
    let (width, height) = spec.size;
    let mut resolution = WindowResolution::new(width, height);
    if spec.fixed {
        resolution.set_scale_factor_override(Some(1.0));
    }
    let window = Window {
        title: "Warmpath".into(),
        name: Some("warmpath".into()),
        resolution,
        resizable: !spec.fixed,
        present_mode: PresentMode::AutoVsync,
        // On a page: its canvas, as large as the page, and keys and wheel stay in the game.
        canvas: cfg!(target_arch = "wasm32").then(|| "#warmpath".to_owned()),
        fit_canvas_to_parent: true,
        prevent_default_event_handling: true,
        ..Window::default()
    };
    let log = LogPlugin { filter: spec.log.into(), level: bevy::log::Level::WARN, ..LogPlugin::default() };
    #[cfg(target_arch = "wasm32")]
    crate::web::window_plugin(app);
    app.add_plugins(
        DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..WindowPlugin::default() }).set(log),
    )
    .add_plugins(EguiPlugin::default())
    .insert_resource(ClearColor(Color::srgb_u8(palette::GROUND.r(), palette::GROUND.g(), palette::GROUND.b())))
    .insert_resource(WinitSettings::continuous())
    .insert_resource(input_of(spec))
    .add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Camera2d, Msaa::Off));
    })
    .add_systems(PreUpdate, style_contexts.after(EguiPreUpdateSet::InitContexts).before(EguiPreUpdateSet::BeginPass))
    .add_systems(OnEnter(Screen::Components), |mut state: ResMut<ComponentsPage>| *state = ComponentsPage::default())
    .add_systems(Update, (super::note_opened, zoom, pace))
    .add_systems(
        EguiPrimaryContextPass,
        (
            warm_up,
            levels_screen.run_if(in_state(Screen::Levels)),
            play_screen.run_if(in_state(Screen::Play).and_then(resource_exists::<Session>)),
            components_screen.run_if(in_state(Screen::Components).and_then(resource_exists::<Demos>)),
        )
            .chain(),
    )
    .init_resource::<PlayScreen>()
    .init_resource::<ComponentsPage>();
}

/// A window that is pictured does not heed where the pointer happens to be.
fn input_of(spec: WindowSpec) -> EguiGlobalSettings {
    let mut settings = EguiGlobalSettings::default();
    settings.input_system_settings.run_write_window_pointer_moved_messages = !spec.fixed;
    settings
}

fn style_contexts(mut contexts: Query<&mut EguiContext, Added<EguiContext>>) {
    for mut context in &mut contexts {
        panels::install_theme(context.get_mut());
    }
}

/// Text grows with the window.
fn zoom(mut contexts: Query<&mut EguiContext>, window: Single<&Window, With<PrimaryWindow>>) {
    let zoom = panels::zoom_for(window.width(), window.height());
    for mut context in &mut contexts {
        context.get_mut().set_zoom_factor(zoom);
    }
}

/// Draws without pause while something moves, and only for a reason while nothing does.
fn pace(
    session: Option<Res<Session>>,
    demos: Option<Res<Demos>>,
    screen: Res<PlayScreen>,
    mut settings: ResMut<WinitSettings>,
) {
    let verdict = |session: &Session| matches!(session.verdict, super::session::VerdictStage::Running(_));
    let moves = session.is_some_and(|session| !session.paused || verdict(&session) || screen.canvas.moves());
    let moves = moves || demos.is_some_and(|demos| demos.move_on());
    let mode =
        if moves || screen.fixed_frame_s.is_some() { UpdateMode::Continuous } else { UpdateMode::reactive(IDLE) };
    settings.focused_mode = mode;
    settings.unfocused_mode = if moves { UpdateMode::Continuous } else { UpdateMode::reactive_low_power(IDLE) };
}

/// Letters are ready before they are needed; at another scale they are others.
fn warm_up(mut contexts: EguiContexts, mut redraw: MessageWriter<RequestRedraw>, mut ready_at: Local<f32>) -> Result {
    let ctx = contexts.ctx_mut()?;
    if *ready_at != ctx.pixels_per_point() {
        *ready_at = ctx.pixels_per_point();
        panels::warm_up(ctx);
    }
    // What a person does may bring letters of other sizes: one more frame shows them.
    if ctx.input(|input| !input.events.is_empty()) {
        redraw.write(RequestRedraw);
    }
    Ok(())
}

fn root_ui(ctx: &egui::Context) -> Ui {
    Ui::new(
        ctx.clone(),
        "screen".into(),
        UiBuilder::new().layer_id(LayerId::background()).max_rect(ctx.viewport_rect()),
    )
}

/// The way from what a person did to what carries it out.
#[derive(SystemParam)]
struct Outbox<'w> {
    actions: MessageWriter<'w, Action>,
    edits: MessageWriter<'w, PlayerEdit>,
    keeps: MessageWriter<'w, Keep>,
    redraw: MessageWriter<'w, RequestRedraw>,
}

impl Outbox<'_> {
    /// What was done acts in the next frame, which must come also where nothing moves.
    fn send(&mut self, deeds: Deeds) {
        if deeds != Deeds::default() {
            self.redraw.write(RequestRedraw);
        }
        self.actions.write_batch(deeds.actions);
        self.edits.write_batch(deeds.edits.into_iter().map(PlayerEdit));
        self.keeps.write_batch(deeds.keeps);
    }
}

fn levels_screen(
    mut contexts: EguiContexts,
    levels: Res<Levels>,
    remembered: Res<Remembered>,
    mut outbox: Outbox,
) -> Result {
    let mut ui = root_ui(contexts.ctx_mut()?);
    let view = LevelsView { levels: &levels.0, progress: remembered.progress(), notice: remembered.notice.as_deref() };
    outbox.send(panels::show_levels(&mut ui, &view));
    Ok(())
}

fn components_screen(
    mut contexts: EguiContexts,
    levels: Res<Levels>,
    remembered: Res<Remembered>,
    mut demos: ResMut<Demos>,
    mut page: ResMut<ComponentsPage>,
    mut outbox: Outbox,
) -> Result {
    let mut ui = root_ui(contexts.ctx_mut()?);
    let view =
        ComponentsView { page: &demos.page, levels: &levels.0, progress: remembered.progress(), demos: demos.runs() };
    let deeds = panels::show_components(&mut ui, &view, &mut page.0);
    // What came into sight begins in the next frame, which must come also where nothing moves.
    if demos.attend(&page.0.on_screen) {
        outbox.redraw.write(RequestRedraw);
    }
    outbox.send(deeds);
    Ok(())
}

fn play_screen(
    mut contexts: EguiContexts,
    mut session: ResMut<Session>,
    mut screen: ResMut<PlayScreen>,
    remembered: Res<Remembered>,
    frame: Res<FrameTime>,
    mut outbox: Outbox,
) -> Result {
    let mut ui = root_ui(contexts.ctx_mut()?);
    let PlayScreen { state, canvas, fixed_frame_s } = &mut *screen;
    let frame_s = fixed_frame_s.unwrap_or(frame.s as f32);
    if session.take_fresh() {
        // Whoever wants less motion wants it on every level.
        *state = PlayState { reduced_motion: state.reduced_motion, ..PlayState::default() };
        canvas.open();
    }
    if session.take_rebuilt() {
        canvas.reset();
    }
    canvas.take_sights(&mut session);
    if let Some(about) = session.take_about() {
        state.choose(&about);
    }
    let (mut code, mut saved) = (String::new(), Vec::new());
    if state.share.is_some() {
        session.code().clone_into(&mut code);
        saved.extend(remembered.canvases().saved.keys().cloned());
    }
    let link = page_link(&session, &code);
    let share =
        ShareView { code: &code, link: link.as_deref(), saved: &saved, notice: session.share_notice.as_deref() };
    let view = session.view_with(share);
    let mut fleet = |ui: &mut Ui, state: &mut PlayState| canvas.show(ui, &session, state, frame_s);
    let deeds = panels::show_play(&mut ui, &view, state, &mut fleet);
    if deeds.actions.contains(&Action::StepEvent) {
        canvas.stepped();
    }
    if deeds.actions.iter().any(|action| matches!(action, Action::Restart | Action::NextSeed | Action::Back)) {
        canvas.reset();
    }
    outbox.send(deeds);
    Ok(())
}

/// The address of the page that opens this code; none where there is no page.
fn page_link(session: &Session, code: &str) -> Option<String> {
    let page = page_address().filter(|_| !code.is_empty())?;
    let key = if session.level.is_canvas() { "canvas" } else { "solution" };
    Some(format!("{page}#{key}={code}"))
}

#[cfg(target_arch = "wasm32")]
fn page_address() -> Option<String> {
    crate::web::address()
}

#[cfg(not(target_arch = "wasm32"))]
fn page_address() -> Option<String> {
    None
}
