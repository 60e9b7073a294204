//! What is told of changes, after their commit: names and keys, never rows.

use std::sync::Arc;

use crate::ident::Key;

/// What happened to the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Create,
    Update,
    Delete,
}

/// A committed change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemEvent {
    pub collection: Arc<str>,
    pub change: Change,
    pub keys: Vec<Key>,
}

impl ItemEvent {
    /// Whether cached users, roles or policies may be stale now.
    #[must_use]
    pub fn touches_identity(&self) -> bool {
        matches!(
            &*self.collection,
            "directus_users" | "directus_roles" | "directus_permissions" | "directus_settings" | "directus_shares"
        )
    }

    /// Whether the running flows may differ from the stored ones now.
    #[must_use]
    pub fn touches_flows(&self) -> bool {
        matches!(&*self.collection, "directus_flows" | "directus_operations")
    }
}

/// Receives committed changes. Must not block.
pub trait EventSink: Send + Sync {
    fn publish(&self, event: ItemEvent);

    /// Tables or their metadata have changed: who keeps a schema of its own has to look again. So has this
    /// process, unless the change is `known`.
    fn schema_changed(&self, _known: bool) {}
}

/// Drops everything; for tools that run without listeners.
#[derive(Debug, Default)]
pub struct NoSink;

impl EventSink for NoSink {
    fn publish(&self, _event: ItemEvent) {}
}
