//! `waymark config print`.

use super::Failed;
use crate::settings::{Settings, Source, manual};

/// Prints what is set, then fails with what is wrong with it.
pub fn print(source: &Source) -> Result<(), Failed> {
    for entry in manual::entries() {
        let Some(text) = source.text(entry.name) else { continue };
        let shown = if manual::is_secret(entry.name) { "********".to_owned() } else { format!("{text:?}") };
        let origin = if source.is_given(entry.name) { "" } else { "  # default" };
        println!("{} = {shown}{origin}", entry.name);
    }
    Settings::read(source)?;
    Ok(())
}
