//! What a frame of the game costs one core without a GPU: a sixtieth of a second of the simulation at 8 times real time, the
//! report and the charts as often as the game takes them anew, and everything that the play screen draws, as shapes.
//!
//! Not in it is what the libraries do with the shapes: tessellation and the renderer.

#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use egui::{Context, RawInput, Rect, Ui, UiBuilder, pos2, vec2};
use std::hint::black_box;
use std::time::Duration;
use warmpath::app::{FleetCanvas, Session};
use warmpath::blueprint::Blueprint;
use warmpath::canvas::FleetPicture;
use warmpath::level::Level;
use warmpath::panels::{PlayState, Speed, install_theme, show_play};
use warmpath::sim::SECOND;

/// Frames a second, and how many of them pass between two looks at the report.
const FRAME_S: f64 = 1.0 / 60.0;
const LOOK_EVERY: u64 = 12;

/// The support agents' fleet with so many replicas, and traffic of which so many calls are inside at any time: most of them
/// decode long answers.
fn busy(replicas: usize, inside: f64) -> (Level, Blueprint) {
    let mut level = Level::by_id("one-replica-owns-the-hot-prefix").expect("it comes with the program");
    level.seconds = 1e6;
    let mut blueprint = level.blueprint.clone();
    blueprint.resize_replicas(replicas);
    for replica in &mut blueprint.replicas {
        replica.slots = 1_000;
        // As much as the calls inside need, and half as much again.
        replica.kv_tokens = 30_000_000 / replicas as u64;
        replica.prefill_tokens_per_s = 1e6;
        (replica.decode_base_ms, replica.decode_per_call_ms) = (20.0, 0.0);
    }
    let router = &mut blueprint.routers[0];
    (router.vcpu, router.spill) = (64, 16);
    let source = &mut blueprint.traffics[0];
    // A thousand tokens at 20 ms each are 20 s inside.
    (source.output_tokens, source.think_s) = (1_000, 1.0);
    source.sessions_per_s = inside / 20.0 / source.steps as f64;
    (level, blueprint)
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frame");
    group.measurement_time(Duration::from_secs(8));
    for replicas in [8, 64] {
        let (level, blueprint) = busy(replicas, 5_000.0);
        let mut session = Session::with_blueprint(level, blueprint);
        session.speed = Speed::Eight;
        session.run_to(180 * SECOND);
        session.paused = false;
        let inside = session.report.in_flight;
        assert!((4_500..6_500).contains(&inside), "{inside} calls in flight");
        let ctx = Context::default();
        install_theme(&ctx);
        let (mut state, mut canvas, mut frame) = (PlayState::default(), FleetCanvas::default(), 0);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(1920.0, 1080.0));
        let mut draw = |session: &mut Session| {
            session.go_on(FRAME_S, Duration::from_millis(9));
            frame += 1;
            if frame % LOOK_EVERY == 0 {
                session.look();
            }
            canvas.take_sights(session);
            let input =
                RawInput { screen_rect: Some(screen), time: Some(frame as f64 * FRAME_S), ..RawInput::default() };
            let output = ctx.run_ui(input, |ui| {
                let mut root = Ui::new(ui.ctx().clone(), "screen".into(), UiBuilder::new().max_rect(screen));
                let mut fleet = |ui: &mut Ui, state: &mut PlayState| canvas.show(ui, session, state, FRAME_S as f32);
                show_play(&mut root, &session.view(), &mut state, &mut fleet);
            });
            black_box(output.shapes.len())
        };
        for _ in 0..30 {
            draw(&mut session);
        }
        group.bench_function(BenchmarkId::new("5,000 in flight, replicas", replicas), |bencher| {
            bencher.iter(|| draw(&mut session));
        });
        group.bench_function(BenchmarkId::new("of it the simulation, replicas", replicas), |bencher| {
            bencher.iter(|| session.go_on(FRAME_S, Duration::from_millis(9)));
        });
        group.bench_function(
            BenchmarkId::new("the fleet copied out, every sixth frame, replicas", replicas),
            |bencher| {
                bencher.iter(|| black_box(FleetPicture::of(&session.run)));
            },
        );
        group.bench_function(
            BenchmarkId::new("report and charts, every twelfth frame, replicas", replicas),
            |bencher| {
                bencher.iter(|| session.look());
            },
        );
    }
    group.finish();
}

criterion_group!(benches, frames);
criterion_main!(benches);
