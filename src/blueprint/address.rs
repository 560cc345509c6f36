//! Keys as people write them (`router.spill`, `replica[3].slots`, `replicas`) and how a list of them changes a blueprint.

use super::{Blueprint, Kind, MOST_REPLICAS, Part, PartId, Setting, Value, settings_of};
use std::collections::BTreeMap;

/// What a key names: one setting on one part or on all of a kind, or the number of replicas.
#[derive(Clone, Copy)]
pub enum Address {
    /// The key `replicas`.
    Replicas,
    /// A setting of all parts of its kind, or of the one with this index.
    Setting(&'static Setting, Option<usize>),
}

/// A key or a value that cannot be taken: which, what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: expected {expected}, found {found}")]
pub struct SettingError {
    /// The key as it was written.
    pub key: String,
    /// What would have been taken.
    pub expected: String,
    /// What was there instead.
    pub found: String,
}

/// A key and the value it is to have, both as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The key, such as `router.spill` or `replica[3].slots`.
    pub key: String,
    /// The value, such as `8` or `round-robin`.
    pub value: String,
}

impl Assignment {
    /// A key and its value.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into() }
    }

    /// Reads `KEY=VALUE`.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        match text.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => Ok(Self::new(key.trim(), value.trim())),
            _ => Err(SettingError { key: "--set".into(), expected: "KEY=VALUE".into(), found: quoted(text) }),
        }
    }

    fn error(&self, expected: impl Into<String>) -> SettingError {
        SettingError { key: self.key.clone(), expected: expected.into(), found: quoted(&self.value) }
    }
}

/// Text from outside, quoted and cut to a length that fits on a line.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The range of the key `replicas`.
const REPLICAS: Kind = Kind::Count(1, MOST_REPLICAS as u64);

impl Address {
    /// Reads a key; an unknown one is an error that says which keys there are.
    pub fn parse(key: &str) -> Result<Self, SettingError> {
        if key == "replicas" {
            return Ok(Self::Replicas);
        }
        let unknown = || SettingError {
            // From outside, so on one line whatever is in it.
            key: key.chars().take(60).flat_map(char::escape_debug).collect(),
            expected: known_keys(key),
            found: "an unknown key".into(),
        };
        let (head, field) = key.split_once('.').ok_or_else(unknown)?;
        let (kind, index) = match head.split_once('[') {
            None => (head, None),
            Some((kind, rest)) => {
                let digits = rest.strip_suffix(']').ok_or_else(unknown)?;
                (kind, Some(digits.parse::<usize>().map_err(|_| unknown())?))
            }
        };
        let part = Part::ALL.into_iter().find(|part| part.key() == kind).ok_or_else(unknown)?;
        let setting = settings_of(part).iter().find(|setting| setting.field() == field).ok_or_else(unknown)?;
        Ok(Self::Setting(setting, index))
    }

    /// The plain key, without an index: what a level's list of open settings names.
    pub fn plain_key(&self) -> &'static str {
        match self {
            Self::Replicas => "replicas",
            Self::Setting(setting, _) => setting.key,
        }
    }
}

/// The keys that an unknown one may have meant: those of its part, or else all parts.
fn known_keys(key: &str) -> String {
    let head = key.split(['.', '[']).next().unwrap_or_default();
    match Part::ALL.into_iter().find(|part| part.key() == head) {
        Some(part) => {
            let keys: Vec<&str> = settings_of(part).iter().map(|setting| setting.key).collect();
            format!("one of {}", keys.join(", "))
        }
        None => "replicas, or a key that begins with traffic., balancer., router. or replica.".into(),
    }
}

/// Applies the assignments in order. Ranges are checked when all are applied, so that only what a setting ends up as
/// must be in its range; where one is wrong, the blueprint is left as it was.
///
/// # Errors
/// The first key that is unknown or names a part that is not there, or a value that is not one; then the first value
/// out of its range; then what does not hold between two settings.
pub fn apply(blueprint: &mut Blueprint, assignments: &[Assignment]) -> Result<(), SettingError> {
    let mut changed = blueprint.clone();
    let mut pending: BTreeMap<(PartId, &'static str), (&Assignment, &'static Setting, Value)> = BTreeMap::new();
    let mut replicas = None;
    for assignment in assignments {
        match Address::parse(&assignment.key)? {
            Address::Replicas => {
                let count: f64 = assignment.value.parse().map_err(|_| assignment.error(REPLICAS.expected()))?;
                if changed.replicas.is_empty() {
                    // There is none to be like, nor a link to share.
                    return Err(SettingError {
                        key: assignment.key.clone(),
                        expected: "a fleet with a replica".into(),
                        found: "none in this one".into(),
                    });
                }
                replicas = Some((assignment, count));
                if REPLICAS.admits(Value::Number(count)) {
                    // What was set on all replicas so far holds for those that come now, too.
                    for ((id, _), (_, setting, value)) in &pending {
                        if *id == PartId::new(Part::Replica, 0) && setting.kind.admits(*value) {
                            setting.set(&mut changed, 0, *value);
                        }
                    }
                    changed.resize_replicas(count as usize);
                    pending.retain(|(id, _), _| id.part != Part::Replica || id.index < count as usize);
                }
            }
            Address::Setting(setting, index) => {
                let value =
                    setting.parse(&assignment.value).ok_or_else(|| assignment.error(setting.kind.expected()))?;
                let count = changed.count(setting.part);
                let chosen = match index {
                    None => 0..count,
                    Some(index) if index < count => index..index + 1,
                    Some(_) => count..count,
                };
                if chosen.is_empty() {
                    let kind = setting.part.key();
                    return Err(SettingError {
                        key: assignment.key.clone(),
                        expected: match count {
                            0 => format!("a fleet with a {kind}"),
                            _ => format!("an index from 0 to {}", count - 1),
                        },
                        found: match count {
                            0 => "none in this one".into(),
                            _ => index.map_or_else(String::new, |index| index.to_string()),
                        },
                    });
                }
                for index in chosen {
                    pending.insert((PartId::new(setting.part, index), setting.key), (assignment, setting, value));
                }
            }
        }
    }
    if let Some((assignment, count)) = replicas
        && !REPLICAS.admits(Value::Number(count))
    {
        return Err(assignment.error(REPLICAS.expected()));
    }
    for ((id, _), (assignment, setting, value)) in pending {
        if !setting.kind.admits(value) {
            return Err(assignment.error(setting.kind.expected()));
        }
        setting.set(&mut changed, id.index, value);
    }
    if let Some(error) = changed.inconsistency() {
        return Err(error);
    }
    *blueprint = changed;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(blueprint: &mut Blueprint, list: &[&str]) -> Result<(), SettingError> {
        let list: Result<Vec<_>, _> = list.iter().map(|text| Assignment::parse(text)).collect();
        apply(blueprint, &list?)
    }

    #[test]
    fn only_the_last_value_must_be_in_range() {
        let mut fleet = Blueprint::router_before(2);
        set(&mut fleet, &["router.p50_ms=1e9", "router.p99_ms=80", "router.p50_ms=70"]).expect("both end in range");
        assert_eq!((fleet.routers[0].p50_ms, fleet.routers[0].p99_ms), (70.0, 80.0));
    }

    #[test]
    fn a_wrong_value_changes_nothing() {
        let mut fleet = Blueprint::router_before(2);
        let before = fleet.clone();
        for bad in [
            "router.slots=0",
            "router.slots=2.5",
            "router.affinity=nan",
            "router.p50_ms=30",
            "router.x=1",
            "replica[2].slots=4",
            "traffic.steps=3",
            "replicas=0",
            "replicas=many",
            "router[x].slots=3",
            "slots=3",
        ] {
            let error = set(&mut fleet, &["router.queue=7", bad]).expect_err(bad);
            assert!(!error.to_string().contains('\n'));
            assert_eq!(fleet, before, "{bad}");
        }
    }

    #[test]
    fn more_replicas_are_like_the_first_and_linked_like_it() {
        let mut fleet = Blueprint::router_before(2);
        set(&mut fleet, &["replica.slots=5", "replicas=4", "replica[3].slots=9"]).expect("in range");
        let slots: Vec<u64> = fleet.replicas.iter().map(|replica| replica.slots).collect();
        assert_eq!(slots, [5, 5, 5, 9]);
        assert_eq!(fleet.next_of(PartId::new(Part::Router, 0)).count(), 4);
        set(&mut fleet, &["replicas=1"]).expect("in range");
        assert_eq!(fleet.next_of(PartId::new(Part::Router, 0)).count(), 1);
    }
}
