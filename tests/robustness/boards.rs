//! Random edits, undos and redos, against a naive model in which every part has a number of its own for as long as it lives.

use super::hands::*;
use super::*;
use std::collections::BTreeSet;
use warmpath::blueprint::{BOARD, Board, Change, Edit, History, PartId, Piece, Place, Value, box_of};

/// A part of the naive model.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    number: u64,
    settings: Vec<Value>,
    large: bool,
    name: Option<String>,
    at: Option<Place>,
}

/// A board as the naive model has it: who is there, in what order, and who sends to whom.
#[derive(Clone, Debug, PartialEq, Default)]
struct Naive {
    kinds: [Vec<Known>; 4],
    /// In the order in which they were made.
    links: Vec<(u64, u64)>,
    budget: Option<u64>,
}

fn known(fleet: &Blueprint, id: PartId, number: u64) -> Known {
    Known {
        number,
        settings: settings_of(id.part).iter().map(|setting| setting.get(fleet, id.index)).collect(),
        large: id.part == Part::Replica && fleet.replicas[id.index].large,
        name: fleet.names.get(&id).cloned(),
        at: fleet.places.get(&id).copied(),
    }
}

impl Naive {
    fn of(board: &Board, next: &mut u64) -> Self {
        let fleet = board.blueprint();
        let mut naive = Self { budget: board.budget(), ..Self::default() };
        for part in Part::ALL {
            for index in 0..fleet.count(part) {
                naive.kinds[part as usize].push(known(fleet, PartId::new(part, index), *next));
                *next += 1;
            }
        }
        naive.links = fleet.links.iter().map(|(from, to)| (naive.number(*from), naive.number(*to))).collect();
        naive
    }

    fn number(&self, id: PartId) -> u64 {
        self.kinds[id.part as usize][id.index].number
    }

    fn has(&self, id: PartId) -> bool {
        id.index < self.kinds[id.part as usize].len()
    }

    fn place_of(&self, number: u64) -> Option<PartId> {
        Part::ALL.into_iter().find_map(|part| {
            let place = self.kinds[part as usize].iter().position(|known| known.number == number)?;
            Some(PartId::new(part, place))
        })
    }

    /// The links as a board has them: by who sends, then in the order in which they were made.
    fn links_in_order(&self) -> Vec<(PartId, PartId)> {
        let place = |number: u64| self.place_of(number).expect("a link of a part that is there");
        let mut links: Vec<_> = self.links.iter().map(|(from, to)| (place(*from), place(*to))).collect();
        links.sort_by_key(|(from, _)| *from);
        links
    }

    /// Must the level and the board take this edit? None where it is a matter of room or of settings.
    fn takes(&self, level: &Level, edit: &Edit) -> Option<bool> {
        let given = |id: &PartId| id.index < level.blueprint.count(id.part);
        let count: usize = self.kinds.iter().map(Vec::len).sum();
        let owned = |parts: &[PartId]| parts.iter().all(|id| self.has(*id));
        let canvas = level.is_canvas();
        if !level.placing && !matches!(edit, Edit::Set(_)) {
            return Some(false);
        }
        match edit {
            Edit::Place { piece, .. } => (count >= 100 || (*piece == Piece::Traffic && !canvas)).then_some(false),
            Edit::Move { parts, .. } => (!owned(parts)).then_some(false),
            Edit::Link { from, to } => {
                let fits = matches!(
                    (from.part, to.part),
                    (Part::Traffic, Part::Balancer | Part::Router | Part::Replica)
                        | (Part::Balancer, Part::Router | Part::Replica)
                        | (Part::Router, Part::Replica)
                );
                let there = self.has(*from) && self.has(*to);
                Some(fits && there && !self.links.contains(&(self.number(*from), self.number(*to))))
            }
            Edit::Unlink { from, to } => {
                let there = self.has(*from) && self.has(*to);
                Some(there && self.links.contains(&(self.number(*from), self.number(*to))))
            }
            Edit::LinkAll { from } => (from.part == Part::Replica || !self.has(*from)).then_some(false),
            Edit::UnlinkAll { .. } | Edit::Open { .. } => None,
            Edit::Delete { parts } => Some(owned(parts) && !parts.iter().any(given)),
            Edit::Duplicate { parts } => {
                let traffic = parts.iter().any(|id| id.part == Part::Traffic);
                (!owned(parts) || (traffic && !canvas) || count >= 100).then_some(false)
            }
            Edit::Set(changes) => {
                let locked = |change: &Assignment| {
                    let plain = change.key.split('[').next().unwrap_or_default();
                    let field = change.key.rsplit('.').next().unwrap_or_default();
                    let plain = if change.key.contains('[') { format!("{plain}.{field}") } else { change.key.clone() };
                    !level.open.contains(&plain)
                };
                changes.iter().any(locked).then_some(false)
            }
            Edit::Budget(_) if !canvas => Some(false),
            Edit::Preset { traffic, .. } => {
                (!canvas || !self.has(PartId::new(Part::Traffic, *traffic))).then_some(false)
            }
            Edit::Budget(_) => None,
        }
    }

    /// Carries out an edit that the board took; only where parts came to stand is looked up there.
    fn carry_out(&mut self, edit: &Edit, after: &Blueprint, next: &mut u64) {
        let mut fresh = || {
            *next += 1;
            *next - 1
        };
        match edit {
            Edit::Place { piece, .. } => {
                let part = piece.part();
                let list = &mut self.kinds[part as usize];
                let settings = settings_of(part).iter().map(|setting| {
                    // A large replica has twice the cache and twice the prefill speed.
                    match (piece, setting.key) {
                        (Piece::LargeReplica, "replica.kv_tokens") => Value::Number(600_000.0),
                        (Piece::LargeReplica, "replica.prefill_tokens_per_s") => Value::Number(40_000.0),
                        _ => setting.default,
                    }
                });
                let at = after.places.get(&PartId::new(part, list.len())).copied();
                let large = *piece == Piece::LargeReplica;
                list.push(Known { number: fresh(), settings: settings.collect(), large, name: None, at });
            }
            Edit::Move { parts, .. } => {
                for id in parts {
                    self.kinds[id.part as usize][id.index].at = after.places.get(id).copied();
                }
            }
            Edit::Link { from, to } => self.links.push((self.number(*from), self.number(*to))),
            Edit::Unlink { from, to } => {
                let link = (self.number(*from), self.number(*to));
                self.links.retain(|known| *known != link);
            }
            Edit::LinkAll { from } => {
                let from = self.number(*from);
                for replica in self.kinds[Part::Replica as usize].iter().map(|known| known.number) {
                    if !self.links.contains(&(from, replica)) {
                        self.links.push((from, replica));
                    }
                }
            }
            Edit::UnlinkAll { from } => {
                let from = self.number(*from);
                self.links.retain(|(sender, _)| *sender != from);
            }
            Edit::Open { blueprint, budget } => *self = Self::of(&Board::new((**blueprint).clone(), *budget), next),
            Edit::Delete { parts } => {
                let gone: BTreeSet<u64> = parts.iter().map(|id| self.number(*id)).collect();
                for kind in &mut self.kinds {
                    kind.retain(|known| !gone.contains(&known.number));
                }
                self.links.retain(|(from, to)| !gone.contains(from) && !gone.contains(to));
            }
            Edit::Duplicate { parts } => {
                let mut twins: Vec<(u64, u64)> = Vec::new();
                for id in parts {
                    let original = self.kinds[id.part as usize][id.index].clone();
                    if twins.iter().any(|(known, _)| *known == original.number) {
                        continue;
                    }
                    let twin = PartId::new(id.part, self.kinds[id.part as usize].len());
                    let number = fresh();
                    twins.push((original.number, number));
                    let (name, at) = (after.names.get(&twin).cloned(), after.places.get(&twin).copied());
                    assert_eq!(name.is_some(), original.name.is_some());
                    self.kinds[id.part as usize].push(Known { number, name, at, ..original });
                }
                let twin = |number: u64| twins.iter().find(|(known, _)| *known == number).map(|(_, twin)| *twin);
                for (from, to) in self.links.clone() {
                    if twin(from).is_some() || twin(to).is_some() {
                        self.links.push((twin(from).unwrap_or(from), twin(to).unwrap_or(to)));
                    }
                }
            }
            Edit::Budget(budget) => self.budget = *budget,
            Edit::Preset { traffic, settings, .. } => {
                let fleet = Blueprint { traffics: vec![settings.clone()], ..Blueprint::default() };
                let known = &mut self.kinds[Part::Traffic as usize][*traffic];
                known.settings = settings_of(Part::Traffic).iter().map(|setting| setting.get(&fleet, 0)).collect();
                known.name = after.names.get(&PartId::new(Part::Traffic, *traffic)).cloned();
            }
            Edit::Set(changes) => {
                for Assignment { key, value } in changes {
                    if key == "replicas" {
                        self.resize_replicas(value.parse().expect("a count"), &mut fresh);
                        continue;
                    }
                    let (head, field) = key.split_once('.').expect("a key");
                    let (kind, index) = match head.split_once('[') {
                        Some((kind, index)) => {
                            (kind, Some(index.trim_end_matches(']').parse::<usize>().expect("an index")))
                        }
                        None => (head, None),
                    };
                    let part = Part::ALL.into_iter().find(|part| part.key() == kind).expect("a kind");
                    let place = settings_of(part).iter().position(|setting| setting.field() == field).expect("a field");
                    let value = settings_of(part)[place].parse(value).expect("a value");
                    for (at, known) in self.kinds[part as usize].iter_mut().enumerate() {
                        if index.is_none_or(|index| index == at) {
                            known.settings[place] = value;
                        }
                    }
                }
            }
        }
    }

    fn resize_replicas(&mut self, count: usize, mut fresh: impl FnMut() -> u64) {
        let list = &mut self.kinds[Part::Replica as usize];
        let gone: Vec<u64> = list.drain(count.min(list.len())..).map(|known| known.number).collect();
        self.links.retain(|(_, to)| !gone.contains(to));
        let first = list[0].clone();
        let upstream: Vec<u64> =
            self.links.iter().filter(|(_, to)| *to == first.number).map(|(from, _)| *from).collect();
        while self.kinds[Part::Replica as usize].len() < count {
            let number = fresh();
            self.kinds[Part::Replica as usize].push(Known { number, ..first.clone() });
            self.links.extend(upstream.iter().map(|from| (*from, number)));
        }
    }

    /// Is the board what the model says?
    fn is(&self, board: &Board) -> Result<(), TestCaseError> {
        let fleet = board.blueprint();
        prop_assert_eq!(board.budget(), self.budget);
        for part in Part::ALL {
            let found: Vec<Known> = (0..fleet.count(part))
                .map(|index| {
                    let number = self.kinds[part as usize].get(index).map_or(u64::MAX, |known| known.number);
                    known(fleet, PartId::new(part, index), number)
                })
                .collect();
            prop_assert_eq!(&found, &self.kinds[part as usize]);
        }
        prop_assert_eq!(&fleet.links, &self.links_in_order());
        prop_assert!(fleet.names.keys().chain(fleet.places.keys()).all(|id| self.has(*id)), "no name of what is gone");
        Ok(())
    }
}

/// What always holds of a board at this level.
fn holds(level: &Level, board: &Board) -> Result<(), TestCaseError> {
    let fleet = board.blueprint();
    let mut seen = BTreeSet::new();
    for (from, to) in &fleet.links {
        prop_assert!(from.index < fleet.count(from.part) && to.index < fleet.count(to.part), "{:?} {:?}", from, to);
        prop_assert!(from.part.may_send_to(to.part));
        prop_assert!(seen.insert((*from, *to)), "a link twice");
    }
    let spent = fleet.credits_over(&level.blueprint);
    prop_assert!(board.budget().is_none_or(|budget| spent <= budget), "{} of {:?}", spent, board.budget());
    prop_assert!(fleet.parts() <= 100);
    for part in Part::ALL {
        prop_assert!(fleet.count(part) >= level.blueprint.count(part) || part == Part::Replica && !level.placing);
        for index in 0..fleet.count(part) {
            for setting in settings_of(part) {
                prop_assert!(setting.kind.admits(setting.get(fleet, index)), "{}", setting.key);
            }
        }
    }
    prop_assert!(fleet.inconsistency().is_none());
    prop_assert!(level.admits_for(fleet, board.budget()).is_ok());
    if level.placing {
        prop_assert_eq!(fleet.places.len(), fleet.parts(), "each part has its place");
    }
    let boxes: Vec<_> = fleet.places.iter().map(|(id, at)| box_of(id.part, *at)).collect();
    for (one, a) in boxes.iter().enumerate() {
        prop_assert!(a.0 >= 0 && a.1 >= 0 && a.2 <= BOARD.0 && a.3 <= BOARD.1, "on the board: {:?}", a);
        for b in &boxes[..one] {
            prop_assert!(a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1, "apart: {:?} {:?}", a, b);
        }
    }
    let names: BTreeSet<&String> = fleet.names.values().collect();
    prop_assert_eq!(names.len(), fleet.names.len(), "names that differ");
    Ok(())
}

/// Parts that move go all by the same way.
fn move_together(parts: &[PartId], before: &Blueprint, after: &Blueprint) -> Result<(), TestCaseError> {
    let way = |id: &PartId| {
        let (from, to) = (before.places[id], after.places[id]);
        (to.0 - from.0, to.1 - from.1)
    };
    for id in parts {
        prop_assert_eq!(way(id), way(&parts[0]));
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_board_is_what_a_naive_model_says(which in 0usize..14, acts in acts(60)) {
        // The canvas as often as all levels together.
        let levels = levels();
        let level = levels.get(which.saturating_sub(6)).unwrap_or(&levels[0]);
        let mut next = 0;
        let mut history = beginning(level);
        let mut naive = vec![Naive::of(history.board(), &mut next)];
        let mut now = 0;
        for act in &acts {
            let before = history.board().clone();
            let model = naive[now].clone();
            match act {
                Act::Undo => {
                    let outcome = history.undo();
                    prop_assert_eq!(outcome.is_some(), now > 0);
                    now = now.saturating_sub(1);
                }
                Act::Redo => {
                    let outcome = history.redo();
                    prop_assert_eq!(outcome.is_some(), now + 1 < naive.len());
                    now = (now + 1).min(naive.len() - 1);
                }
                _ => {
                    let Some(edit) = act.edit(history.blueprint()) else { continue };
                    let must = model.takes(level, &edit);
                    match make(level, &mut history, &edit) {
                        Err(refusal) => {
                            prop_assert_ne!(must, Some(true), "{:?}: {}", edit, refusal);
                            is_one_line(&refusal, "")?;
                            prop_assert_eq!(history.board(), &before, "what is refused changes nothing");
                        }
                        Ok(None) => prop_assert_eq!(history.board(), &before),
                        Ok(Some(outcome)) => {
                            prop_assert_ne!(must, Some(false), "{:?}", edit);
                            prop_assert_eq!(&outcome.before, &before);
                            let after = history.blueprint();
                            let mut model = model.clone();
                            model.carry_out(&edit, after, &mut next);
                            naive.truncate(now + 1);
                            naive.push(model);
                            now += 1;
                            if let Edit::Move { parts, .. } = &edit {
                                move_together(parts, before.blueprint(), after)?;
                            }
                            prop_assert!(outcome.about.iter().all(|id| id.index < after.count(id.part)));
                        }
                    }
                }
            }
            naive[now].is(history.board())?;
            holds(level, history.board())?;
            // Who each part was before: by its number, for as long as it lives.
            let origins = history.board().origins(&before);
            for part in Part::ALL {
                for (index, known) in naive[now].kinds[part as usize].iter().enumerate() {
                    let was = model.place_of(known.number).map(|id| id.index);
                    prop_assert_eq!(origins(PartId::new(part, index)), was, "{:?} {}", part, index);
                }
            }
        }
    }

    /// A slider on its way is one change, and undone as one.
    #[test]
    fn changes_of_one_kind_are_one_where_they_follow_each_other(
        steps in prop::collection::vec((prop::sample::select(vec!["router.spill", "router.slots"]), 1u32..6, any::<bool>()), 1..30),
    ) {
        let level = &Level::builtin()[0];
        let mut history = beginning(level);
        // The boards that an undo comes to, each with the key of the change that left it.
        let mut past: Vec<(Board, &str)> = Vec::new();
        for (key, value, same) in steps {
            let before = history.board().clone();
            let edit = Edit::Set(vec![Assignment::new(key, value.to_string())]);
            let made = history.edit(&edit, same, |_| Ok(())).expect("in range").is_some();
            prop_assert_eq!(made, history.board() != &before);
            if !made {
                continue;
            }
            match past.last() {
                Some((first, last)) if same && *last == key => {
                    // Back where it began, there is nothing to undo.
                    if first == history.board() {
                        past.pop();
                    }
                }
                _ => past.push((before, key)),
            }
            let first = past.last().map(|(board, key)| (board.blueprint(), *key));
            match (history.undoable(), first) {
                (Some(Change::Setting { key: found, from, to }), Some((first, key))) => {
                    prop_assert_eq!(found, key);
                    let setting = warmpath::blueprint::Setting::find(key).expect("a setting");
                    prop_assert_eq!(*from, Some(setting.get(first, 0)));
                    prop_assert_eq!(*to, Some(setting.get(history.blueprint(), 0)));
                }
                (found, expected) => prop_assert!(found.is_none() && expected.is_none(), "{:?}", found),
            }
        }
        while let Some((board, _)) = past.pop() {
            prop_assert!(history.undo().is_some());
            prop_assert_eq!(history.board(), &board);
        }
        prop_assert!(history.undo().is_none());
    }
}

#[test]
fn a_full_board_takes_no_more_and_says_so() {
    let level = Level::canvas();
    let mut history = beginning(&level);
    let place = |piece| Edit::Place { piece, at: Place(1200, 700) };
    for number in 0.. {
        if !a_board_takes(history.blueprint()) {
            break;
        }
        let at = Place(150 + number % 8 * 300, 50 + number / 8 * 110);
        make(&level, &mut history, &Edit::Place { piece: Piece::Replica, at }).expect("there is room for 100");
        assert_eq!(history.blueprint().places[&PartId::new(Part::Replica, number as usize)], at);
    }
    for edit in [place(Piece::Router), Edit::Duplicate { parts: vec![PartId::new(Part::Replica, 3)] }] {
        let refusal = make(&level, &mut history, &edit).expect_err("full").to_string();
        assert!(refusal.contains("100"), "{refusal}");
    }
    assert_eq!(history.blueprint().replicas.len(), 100);
    // Whoever stands there can still be moved, to where there is room.
    let edit = Edit::Move { parts: vec![PartId::new(Part::Replica, 50)], by: (i32::MIN, i32::MAX) };
    make(&level, &mut history, &edit).expect("it stays on the board");
    assert!(holds(&level, history.board()).is_ok());
}

#[test]
fn the_oldest_changes_are_forgotten_first() {
    let level = Level::builtin().swap_remove(0);
    let mut history: History = beginning(&level);
    for spill in 1..=310 {
        let edit = Edit::Set(vec![Assignment::new("router.spill", spill.to_string())]);
        make(&level, &mut history, &edit).expect("open");
    }
    let undone = std::iter::from_fn(|| history.undo()).count();
    assert_eq!(undone, 300);
    assert_eq!(history.blueprint().routers[0].spill, 10);
}
