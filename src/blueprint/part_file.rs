//! How a part stands in a level file: its settings by their keys, checked against the table while they are read, so that
//! an error carries the line and column where it stands.

use super::{Kind, Part, Place, Setting, Value, settings_of};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A kind of part as a type, so that a file's list of routers takes routers' settings.
pub trait Tag {
    /// The kind.
    const PART: Part;
}

macro_rules! tags {
    ($($name:ident),*) => {$(
        /// The kind of part of the same name.
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name;
        impl Tag for $name {
            const PART: Part = Part::$name;
        }
    )*};
}
/// The kinds of part as types.
pub mod tag {
    use super::{Part, Tag};
    tags!(Traffic, Balancer, Router, Replica);
}

/// One part, or several alike, of a level file.
#[derive(Clone, Debug, PartialEq)]
pub struct PartFile<T> {
    /// What links call it.
    pub name: Option<String>,
    /// The names of the parts that it sends to, in order.
    pub to: Vec<String>,
    /// How many parts like this one.
    pub count: usize,
    /// Where it stands on the board.
    pub at: Option<Place>,
    /// Of a replica: is it a large one?
    pub large: bool,
    /// Its settings; what is not here is at its default.
    pub settings: Vec<(&'static str, Value)>,
    tag: PhantomData<T>,
}

impl<T: Tag> PartFile<T> {
    /// The settings with their rows of the table.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Setting, Value)> + '_ {
        self.settings.iter().filter_map(|(key, value)| Some((Setting::find(key)?, *value)))
    }
}

struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Identifier;
        impl Visitor<'_> for Identifier {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a setting")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Key, E> {
                Ok(Key(text.to_owned()))
            }
        }
        deserializer.deserialize_identifier(Identifier)
    }
}

/// Reads the value of a setting and checks its range.
fn checked_value<'de, A: MapAccess<'de>>(map: &mut A, setting: &'static Setting) -> Result<Value, A::Error> {
    let (value, found) = match setting.kind {
        Kind::Choice(_) => {
            let word: String = map.next_value()?;
            (setting.parse(&word), word)
        }
        _ => {
            let x: f64 = map.next_value()?;
            (Some(Value::Number(x)), x.to_string())
        }
    };
    value.filter(|value| setting.kind.admits(*value)).ok_or_else(|| {
        A::Error::custom(format_args!("{}: expected {}, found {found}", setting.key, setting.kind.expected()))
    })
}

impl<'de, T: Tag> Deserialize<'de> for PartFile<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Tag> Visitor<'de> for Fields<T> {
            type Value = PartFile<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the settings of a {}", T::PART.key())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut part = PartFile {
                    name: None,
                    to: Vec::new(),
                    count: 1,
                    at: None,
                    large: false,
                    settings: Vec::new(),
                    tag: PhantomData,
                };
                let mut seen: Vec<String> = Vec::new();
                while let Some(Key(key)) = map.next_key()? {
                    if seen.contains(&key) {
                        return Err(A::Error::custom(format_args!("`{key}` is given twice")));
                    }
                    match key.as_str() {
                        "name" => part.name = Some(map.next_value()?),
                        "at" => part.at = Some(map.next_value::<Place>()?),
                        "size" if T::PART == Part::Replica => {
                            part.large = match map.next_value::<String>()?.as_str() {
                                "standard" => false,
                                "large" => true,
                                other => {
                                    return Err(A::Error::custom(format_args!(
                                        "size: expected standard or large, found {other:?}"
                                    )));
                                }
                            }
                        }
                        "to" if T::PART != Part::Replica => part.to = map.next_value()?,
                        "count" if T::PART == Part::Replica => {
                            part.count = map.next_value()?;
                            if !(1..=super::MOST_REPLICAS).contains(&part.count) {
                                return Err(A::Error::custom(format_args!(
                                    "count: expected a whole number from 1 to {}, found {}",
                                    super::MOST_REPLICAS,
                                    part.count
                                )));
                            }
                        }
                        field => match settings_of(T::PART).iter().find(|setting| setting.field() == field) {
                            Some(setting) => part.settings.push((setting.key, checked_value(&mut map, setting)?)),
                            None => {
                                map.next_value::<IgnoredAny>()?;
                                let fields: Vec<_> = settings_of(T::PART).iter().map(Setting::field).collect();
                                return Err(A::Error::custom(format_args!(
                                    "`{field}` is not a setting of a {}: expected name, at, {}, {}",
                                    T::PART.key(),
                                    if T::PART == Part::Replica { "count, size" } else { "to" },
                                    fields.join(", "),
                                )));
                            }
                        },
                    }
                    seen.push(key);
                }
                if part.at.is_some() && part.count > 1 {
                    return Err(A::Error::custom("at: expected a place of one part, found several parts"));
                }
                Ok(part)
            }
        }
        deserializer.deserialize_struct("", &[], Fields(PhantomData))
    }
}
