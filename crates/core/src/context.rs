//! [`Engine`]: the long-lived parts shared by all requests of one server. [`Ctx`]: what one request
//! works with; the first argument everywhere.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Map, Value};
use tokio::sync::OnceCell;

use crate::{
    access::{Policy, Variables},
    actor::Actor,
    auth::identity::Identities,
    error::Result,
    items::{
        events::{EventSink, ItemEvent},
        hooks::{Hooks, ItemAction},
    },
    query::QueryLimits,
    schema::{Schema, registry::SchemaRegistry},
    store::{Db, Executor, Transaction},
};

/// What the engine needs to know of the settings.
#[derive(Clone, Debug, Default)]
pub struct EngineSettings {
    pub limits: QueryLimits,
    pub auth: crate::auth::AuthSettings,
    /// Tables that are never served (`DB_EXCLUDE_TABLES`).
    pub exclude_tables: Vec<String>,
    /// How old a cached user, role or permission may be when nobody tells us of changes.
    pub cache_ttl: Duration,
    /// Which schedules flows may have.
    pub schedules: crate::system::flows::ScheduleCheck,
}

/// The content engine of one server.
pub struct Engine {
    pub db: Db,
    pub settings: EngineSettings,
    pub registry: SchemaRegistry,
    /// Users, roles and policies, cached by version.
    pub identities: Identities,
    /// Told of every change after its commit.
    pub sink: Arc<dyn EventSink>,
    /// Code of the embedding program that takes part in reads and writes.
    pub hooks: Hooks,
}

impl Engine {
    /// Opens the engine on a migrated database: inspects the schema and prepares the caches.
    ///
    /// # Errors
    /// `INTERNAL_SERVER_ERROR` when the database can't be inspected.
    pub async fn open(db: Db, settings: EngineSettings, sink: Arc<dyn EventSink>, hooks: Hooks) -> Result<Arc<Self>> {
        let registry = SchemaRegistry::open(&db, settings.exclude_tables.clone()).await?;
        let identities = Identities::new(&settings.auth, settings.cache_ttl);
        Ok(Arc::new(Self { db, settings, registry, identities, sink, hooks }))
    }

    /// The context of a request: the schema of this moment and the caller's policy.
    ///
    /// # Errors
    /// When the caller's permission rows can't be read.
    pub async fn context(&self, actor: Arc<Actor>) -> Result<Ctx<'_>> {
        let schema = self.registry.current();
        let policy = self.identities.policy(self, &schema, &actor).await?;
        Ok(Ctx {
            engine: self,
            conn: self.db.executor(),
            schema,
            actor,
            policy,
            variables: Arc::default(),
            written: Arc::default(),
            events: None,
        })
    }

    /// The context of the server's own work.
    #[must_use]
    pub fn system_context(&self) -> Ctx<'_> {
        Ctx {
            engine: self,
            conn: self.db.executor(),
            schema: self.registry.current(),
            actor: Arc::new(Actor::system()),
            policy: Arc::new(Policy::unrestricted()),
            variables: Arc::default(),
            written: Arc::default(),
            events: None,
        }
    }
}

/// What one request works with.
#[derive(Clone)]
pub struct Ctx<'a> {
    pub engine: &'a Engine,
    pub conn: Executor<'a>,
    pub schema: Arc<Schema>,
    pub actor: Arc<Actor>,
    pub policy: Arc<Policy>,
    /// What variables stand for in this request: the same moment and user throughout.
    pub(crate) variables: Arc<OnceCell<Variables>>,
    /// Rows written by this request so far.
    written: Arc<AtomicU64>,
    /// Changes of the running transaction; told after its commit.
    events: Option<Arc<Mutex<Vec<ItemAction>>>>,
}

/// A unit of work: one transaction, begun here or joined.
///
/// ```ignore
/// let work = ctx.begin().await?;
/// let inner = work.ctx(&ctx);
/// // … write with `inner` …
/// work.commit(&ctx).await?;
/// ```
pub enum Work {
    /// Begun here: commits, and then tells of the events.
    Owned { transaction: Transaction, events: Arc<Mutex<Vec<ItemAction>>> },
    /// Part of an outer unit: commit does nothing.
    Joined,
}

impl<'a> Ctx<'a> {
    /// Begins a transaction, or joins the one that is running.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn begin(&self) -> Result<Work> {
        match self.conn {
            Executor::Transaction(_) => Ok(Work::Joined),
            Executor::Pool(db) => Ok(Work::Owned { transaction: db.begin().await?, events: Arc::default() }),
        }
    }

    /// The same request with the server's own rights, in the same transaction. For checks and
    /// bookkeeping the caller need not be allowed to do; call sites are listed by a test.
    #[must_use]
    pub fn elevated(&self) -> Ctx<'a> {
        Ctx {
            actor: Arc::new(Actor::system()),
            policy: Arc::new(Policy::unrestricted()),
            variables: Arc::default(),
            ..self.clone()
        }
    }

    /// The same request over another connection, which has to be of the same database.
    pub(crate) fn over<'b>(&self, conn: Executor<'b>) -> Ctx<'b>
    where
        'a: 'b,
    {
        Ctx { conn, ..self.clone() }
    }

    /// Adds to the rows that this request has written; gives their number.
    pub(crate) fn count_written(&self, rows: usize) -> u64 {
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        self.written.fetch_add(rows, Ordering::Relaxed).saturating_add(rows)
    }

    /// Remembers an event until the commit. Outside a transaction it is told at once.
    pub fn emit(&self, event: ItemEvent) {
        self.emit_with(event, Vec::new());
    }

    /// As [`Ctx::emit`], with what was written, for actions of hooks ([`ItemAction::payloads`]).
    pub fn emit_with(&self, event: ItemEvent, payloads: Vec<Map<String, Value>>) {
        let action = ItemAction { event, actor: Arc::clone(&self.actor), payloads };
        match &self.events {
            Some(events) => events.lock().unwrap_or_else(PoisonError::into_inner).push(action),
            None => self.engine.after_commit(vec![action]),
        }
    }
}

impl Work {
    /// The context to write with.
    #[must_use]
    pub fn ctx<'b>(&'b self, outer: &Ctx<'b>) -> Ctx<'b> {
        match self {
            Work::Joined => outer.clone(),
            Work::Owned { transaction, events } => {
                Ctx { conn: transaction.executor(), events: Some(Arc::clone(events)), ..outer.clone() }
            }
        }
    }

    /// Makes the writes last, refreshes what they made stale, and then tells of them.
    ///
    /// # Errors
    /// When the database refuses; nothing is written then.
    pub async fn commit(self, engine: &Engine) -> Result<()> {
        if let Work::Owned { transaction, events } = self {
            transaction.commit().await?;
            let events = std::mem::take(&mut *events.lock().unwrap_or_else(PoisonError::into_inner));
            engine.after_commit(events);
        }
        Ok(())
    }
}

impl Engine {
    /// Runs after each commit: stale caches first, then hooks and sink.
    fn after_commit(&self, actions: Vec<ItemAction>) {
        if actions.iter().any(|action| action.event.touches_identity()) {
            self.identities.invalidate();
        }
        for action in actions {
            self.hooks.tell(&action);
            self.sink.publish(action.event);
        }
    }
}
