//! The canvas against the simulation: what it shows is what the report says, and it can be used without a renderer.
#![cfg(feature = "window")]

use egui_kittest::{Harness, kittest::Queryable};
use warmpath::blueprint::{Blueprint, Part, PartId, Traffic};
use warmpath::canvas::{Canvas, CanvasResponse, FleetPicture, SharedPrefix};
use warmpath::sim::{Run, RunSpec, SECOND};

fn fleet(replicas: usize) -> Blueprint {
    let mut blueprint = Blueprint::router_before(replicas);
    blueprint.traffics.push(Traffic {
        sessions_per_s: replicas as f64,
        steps: 5,
        think_s: 8.0,
        shared: 0.85,
        base_tokens: 500,
        unshared_base_tokens: 20_000,
        ..Traffic::default()
    });
    blueprint.links.push((PartId::new(Part::Traffic, 0), PartId::new(Part::Router, 0)));
    blueprint
}

fn run_of(blueprint: Blueprint) -> Run {
    let mut run = Run::new(RunSpec { blueprint, seed: 7, warmup: 5 * SECOND, recording: None });
    run.watch();
    run
}

/// A canvas that watches a run, a frame at each step of the harness.
struct Watched {
    run: Run,
    canvas: Canvas,
    speed: f64,
    reduced_motion: bool,
    response: CanvasResponse,
}

impl Watched {
    fn frame(&mut self, ui: &mut egui::Ui) {
        let frame_s = if self.speed > 0.0 { 1.0 / 60.0 } else { 0.0 };
        let until = self.run.now() + (f64::from(frame_s) * self.speed * 1e6) as u64;
        self.run.run_to(until);
        let sights: Vec<_> = self.run.watched().sights.drain(..).collect();
        self.canvas.take_sights(sights.into_iter(), self.speed);
        let picture = FleetPicture::of(&self.run);
        let response = self.canvas.show(ui, &picture, frame_s, self.reduced_motion);
        self.response.clicked = response.clicked.or(self.response.clicked);
        self.response.hovered = response.hovered;
    }
}

fn harness(replicas: usize, speed: f64) -> Harness<'static, Watched> {
    let mut run = run_of(fleet(replicas));
    run.run_to(20 * SECOND);
    let response = CanvasResponse::default();
    let watched = Watched { run, canvas: Canvas::default(), speed, reduced_motion: false, response };
    Harness::builder().with_size(egui::vec2(732.0, 505.0)).build_ui_state(|ui, watched| watched.frame(ui), watched)
}

/// All that is drawn, without what is only asked for by egui itself.
fn drawn(harness: &Harness<'_, Watched>) -> String {
    format!("{:?}", harness.output().shapes)
}

#[test]
fn a_picture_says_what_the_report_says() {
    let mut run = run_of(fleet(6));
    run.run_to(60 * SECOND);
    let picture = FleetPicture::of(&run);
    let report = run.report();
    assert_eq!(picture.now, run.now());
    assert_eq!(picture.replicas.len(), report.replicas.len());
    for (shown, told) in picture.replicas.iter().zip(&report.replicas) {
        assert_eq!(shown.kv_used, told.cached_tokens);
        assert_eq!((shown.hit_tokens, shown.prompt_tokens), (told.hit_tokens, told.prompt_tokens));
        assert!(shown.prefilling + shown.decoding <= shown.slots);
        assert!(shown.waiting_families.len() as u64 <= shown.waiting);
    }
    assert!(picture.replicas.iter().any(|replica| replica.shared == SharedPrefix::Home));
    assert!(!picture.decisions.is_empty());
    assert_eq!(picture.links.len(), 7);
}

#[test]
fn looking_changes_nothing() {
    let (mut watched, mut alone) = (run_of(fleet(4)), run_of(fleet(4)));
    for second in 1..=30 {
        watched.run_to(second * SECOND);
        let _ = FleetPicture::of(&watched);
    }
    alone.run_to(30 * SECOND);
    assert_eq!(watched.report().digest, alone.report().digest);
}

#[test]
fn every_part_is_found_by_its_name_and_clicked() {
    for replicas in [1, 6, 8, 16, 64] {
        let mut harness = harness(replicas, 1.0);
        harness.run_steps(5);
        harness.get_by_label("Traffic");
        harness.get_by_label("Router");
        let last = format!("Replica {replicas}");
        harness.get_by_label(&last).click();
        harness.run_steps(2);
        assert_eq!(harness.state().response.clicked, Some(PartId::new(Part::Replica, replicas - 1)));
        assert_eq!(harness.state().response.hovered, Some(PartId::new(Part::Replica, replicas - 1)));
    }
}

#[test]
fn a_paused_picture_stands_still() {
    let mut harness = harness(6, 1.0);
    harness.run_steps(60);
    harness.state_mut().speed = 0.0;
    harness.run_steps(2);
    let before = drawn(&harness);
    harness.run_steps(20);
    assert_eq!(drawn(&harness), before);
}

#[test]
fn what_is_drawn_is_bounded_at_any_speed() {
    for speed in [1.0, 16.0, 256.0] {
        let mut harness = harness(6, speed);
        harness.run_steps(60);
        // For each replica 32 slots, 32 blocks and 24 of the queue at most, and some 20 for the rest of its card; dots are
        // two shapes each, at most eight on each of seven links.
        let shapes = harness.output().shapes.len();
        assert!(shapes < 6 * (32 + 32 + 24 + 20) + 2 * 8 * 7 + 100, "{shapes} shapes at {speed}x");
    }
}

#[test]
fn a_run_that_starts_again_is_seen_from_its_start() {
    let mut harness = harness(3, 1.0);
    harness.run_steps(30);
    harness.state_mut().run = run_of(fleet(5));
    harness.run_steps(30);
    harness.get_by_label("Replica 5");
    harness.state_mut().reduced_motion = true;
    harness.run_steps(30);
}
