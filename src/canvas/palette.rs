//! The colours of the program: one accent for each meaning, the same on the canvas, in the charts and in text.

use crate::sim::Family;
use egui::Color32;

macro_rules! colours {
    ($($(#[$doc:meta])* $name:ident = $hex:literal;)*) => {$(
        $(#[$doc])*
        pub const $name: Color32 = Color32::from_rgb(($hex >> 16) as u8, ($hex >> 8) as u8, $hex as u8);
    )*};
}

colours! {
    /// Behind everything.
    GROUND = 0x0d_11_17u32;
    /// Side panels and charts.
    PANEL = 0x14_1a_22u32;
    /// Cards on either.
    CARD = 0x1a_22_2du32;
    /// A card under the pointer.
    CARD_HOVER = 0x1f_29_36u32;
    /// Empty places in a card: free slots, room in a cache.
    EMPTY = 0x20_2a_37u32;
    /// Outlines, links.
    LINE = 0x2b_37_46u32;
    /// Text.
    TEXT = 0xdb_e3_eeu32;
    /// Text that steps back.
    DIM = 0x8b_99_abu32;
    /// Text that steps back further.
    FAINT = 0x56_63_74u32;
    /// The shared prefix.
    GOLD = 0xf2_c1_4eu32;
    /// Found in the cache; a goal that is met.
    GOOD = 0x3d_dc_97u32;
    /// Not found; a warning.
    WARN = 0xff_9f_5au32;
    /// Rejected; failed.
    BAD = 0xff_5c_6cu32;
    /// Decode; what has the focus.
    DECODE = 0x5a_a9_ffu32;
    /// Prefill.
    PREFILL = 0xa7_8b_fau32;
    /// Spilled.
    SPILL = 0xe8_79_f9u32;
}

/// Hues of sessions without the shared prefix.
const SESSIONS: [Color32; 3] =
    [Color32::from_rgb(0x7d, 0xd3, 0xfc), Color32::from_rgb(0xf0, 0xab, 0xfc), Color32::from_rgb(0x86, 0xef, 0xac)];

/// The shared prefixes of further sources of traffic.
const SHARED: [Color32; 3] =
    [Color32::from_rgb(0xd9, 0x8f, 0x3a), Color32::from_rgb(0xe9, 0xdc, 0xa6), Color32::from_rgb(0xa8, 0x86, 0x4a)];

/// The colour of a prefix family: gold for a shared prefix, else one of the sessions' hues, always the same for the same
/// session.
pub fn family(family: Family) -> Color32 {
    match family {
        Family::Shared(0) => GOLD,
        // Other teams' shared prefixes are told from the first by their shade.
        Family::Shared(other) => SHARED[(other as usize - 1) % SHARED.len()],
        Family::Session(session) => SESSIONS[(session % SESSIONS.len() as u64) as usize],
    }
}
