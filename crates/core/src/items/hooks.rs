//! Hooks: code of the embedding program that takes part in reads and writes. Filters see what is
//! asked, what is read and what is written before it happens or leaves, and may change or refuse it;
//! actions are told of committed changes. They hold on every door that reads and writes items. Writes run
//! them for nested rows too; reads run those of the collection that was asked for, whose rows hold the
//! rows below.
//!
//! The server's own work ([`crate::actor::Actor::system`]) runs no hooks. A filter runs before the
//! caller's rights are checked: what it makes of a query or a payload needs the caller's rights like
//! anything else. Its errors are the answer.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::{events::ItemEvent, json::Json};
use crate::{
    actor::Actor,
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    query::Query,
};

/// Where a hook takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// `items.query`
    Query,
    /// `items.read`
    Read,
    /// `items.create`
    Create,
    /// `items.update`
    Update,
    /// `items.delete`
    Delete,
    /// The actions `items.create`, `items.update`, `items.delete`: after the commit.
    Committed,
}

/// A committed change as an action sees it.
#[derive(Clone, Debug)]
pub struct ItemAction {
    /// Collection, kind of change, keys.
    pub event: ItemEvent,
    /// Who made the change.
    pub actor: Arc<Actor>,
    /// What was written to each of the keys, in their order; of a delete nothing. Secrets are hashed.
    pub payloads: Vec<Map<String, Value>>,
}

/// A hook. Every method does nothing unless it is overridden; [`ItemHook::points`] has to name those
/// that are.
#[async_trait]
pub trait ItemHook: Send + Sync {
    /// The points this hook takes part in. Asked once, when the hook is registered.
    fn points(&self) -> Vec<Point>;

    /// Sees the query of a read (and of a by-query write) before its names are looked up.
    ///
    /// # Errors
    /// The answer to the request.
    async fn query(&self, ctx: &Ctx<'_>, collection: &str, query: Query) -> Result<Query> {
        let _ = (ctx, collection);
        Ok(query)
    }

    /// Sees rows before they leave: objects, or bare keys where no field is shown. Rows may be changed
    /// or taken out. Exports come in parts.
    ///
    /// # Errors
    /// The answer to the request.
    async fn read(&self, ctx: &Ctx<'_>, collection: &str, rows: Vec<Value>) -> Result<Vec<Value>> {
        let _ = (ctx, collection);
        Ok(rows)
    }

    /// Sees the payload of one row that is to be created.
    ///
    /// # Errors
    /// The answer to the request; nothing is written then.
    async fn create(&self, ctx: &Ctx<'_>, collection: &str, payload: Map<String, Value>) -> Result<Map<String, Value>> {
        let _ = (ctx, collection);
        Ok(payload)
    }

    /// Sees a change that is to be made to these rows.
    ///
    /// # Errors
    /// As [`ItemHook::create`].
    async fn update(
        &self,
        ctx: &Ctx<'_>,
        collection: &str,
        keys: &[Key],
        payload: Map<String, Value>,
    ) -> Result<Map<String, Value>> {
        let _ = (ctx, collection, keys);
        Ok(payload)
    }

    /// Sees the rows that are to be deleted, when the caller may delete them; may refuse.
    ///
    /// # Errors
    /// As [`ItemHook::create`].
    async fn delete(&self, ctx: &Ctx<'_>, collection: &str, keys: &[Key]) -> Result<()> {
        let _ = (ctx, collection, keys);
        Ok(())
    }

    /// Told of a committed change. Must not block: whatever takes time belongs into a task with an owner.
    fn committed(&self, action: &ItemAction) {
        let _ = action;
    }
}

/// The hooks of one server, in the order of their registration; those of all collections (`items.…`)
/// come before those of one (`<collection>.items.…`).
#[derive(Clone, Default)]
pub struct Hooks {
    all: Vec<Registered>,
    one: Vec<(Arc<str>, Registered)>,
}

#[derive(Clone)]
struct Registered {
    points: Vec<Point>,
    hook: Arc<dyn ItemHook>,
}

impl Hooks {
    /// Adds a hook of all collections, the system's included.
    #[must_use]
    pub fn on_all(mut self, hook: Arc<dyn ItemHook>) -> Self {
        self.all.push(Registered { points: hook.points(), hook });
        self
    }

    /// Adds a hook of one collection.
    #[must_use]
    pub fn on(mut self, collection: &str, hook: Arc<dyn ItemHook>) -> Self {
        self.one.push((Arc::from(collection), Registered { points: hook.points(), hook }));
        self
    }

    /// Those that take part at a point, in order.
    fn at<'a>(&'a self, point: Point, collection: &'a str) -> impl Iterator<Item = &'a Arc<dyn ItemHook>> {
        let own = self.one.iter().filter(move |(name, _)| &**name == collection).map(|(_, registered)| registered);
        self.all.iter().chain(own).filter(move |one| one.points.contains(&point)).map(|registered| &registered.hook)
    }

    fn any_at(&self, point: Point, collection: &str) -> bool {
        self.at(point, collection).next().is_some()
    }

    /// Tells of committed changes.
    pub(crate) fn tell(&self, action: &ItemAction) {
        for hook in self.at(Point::Committed, &action.event.collection) {
            hook.committed(action);
        }
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hooks({} of all collections, {} of one)", self.all.len(), self.one.len())
    }
}

/// The hooks that hold for a request at a point; `None` when there are none.
fn of<'a>(ctx: &Ctx<'a>, point: Point, collection: &str) -> Option<&'a Hooks> {
    let hooks = &ctx.engine.hooks;
    (!ctx.actor.is_system() && hooks.any_at(point, collection)).then_some(hooks)
}

/// Runs `items.query`.
pub(super) async fn query<'q>(
    ctx: &Ctx<'_>,
    collection: &str,
    query: &'q Query,
) -> Result<std::borrow::Cow<'q, Query>> {
    let Some(hooks) = of(ctx, Point::Query, collection) else { return Ok(std::borrow::Cow::Borrowed(query)) };
    let mut query = query.clone();
    for hook in hooks.at(Point::Query, collection) {
        query = hook.query(ctx, collection, query).await?;
    }
    Ok(std::borrow::Cow::Owned(query))
}

/// Runs `items.create` on the payloads of one call.
pub(super) async fn create(
    ctx: &Ctx<'_>,
    collection: &str,
    mut payloads: Vec<Map<String, Value>>,
) -> Result<Vec<Map<String, Value>>> {
    let Some(hooks) = of(ctx, Point::Create, collection) else { return Ok(payloads) };
    for payload in &mut payloads {
        for hook in hooks.at(Point::Create, collection) {
            *payload = hook.create(ctx, collection, std::mem::take(payload)).await?;
        }
    }
    Ok(payloads)
}

/// Runs `items.update` on the edits of one call.
pub(super) async fn update(
    ctx: &Ctx<'_>,
    collection: &str,
    mut edits: Vec<super::update::Edit>,
) -> Result<Vec<super::update::Edit>> {
    let Some(hooks) = of(ctx, Point::Update, collection) else { return Ok(edits) };
    for (keys, payload) in &mut edits {
        for hook in hooks.at(Point::Update, collection) {
            *payload = hook.update(ctx, collection, keys, std::mem::take(payload)).await?;
        }
    }
    Ok(edits)
}

/// Runs `items.delete`.
pub(super) async fn delete(ctx: &Ctx<'_>, collection: &str, keys: &[Key]) -> Result<()> {
    let Some(hooks) = of(ctx, Point::Delete, collection) else { return Ok(()) };
    for hook in hooks.at(Point::Delete, collection) {
        hook.delete(ctx, collection, keys).await?;
    }
    Ok(())
}

/// What actions are told of what was written: copied only where somebody listens.
pub(super) fn payloads<'p>(
    ctx: &Ctx<'_>,
    collection: &str,
    written: impl Iterator<Item = &'p Map<String, Value>>,
) -> Vec<Map<String, Value>> {
    if ctx.engine.hooks.any_at(Point::Committed, collection) { written.cloned().collect() } else { Vec::new() }
}

/// What `items.read` makes of rows that leave.
pub(super) struct Seen<'a> {
    ctx: &'a Ctx<'a>,
    collection: &'a str,
    hooks: Option<&'a Hooks>,
}

impl<'a> Seen<'a> {
    pub fn of(ctx: &'a Ctx<'a>, collection: &'a str) -> Self {
        Self { ctx, collection, hooks: of(ctx, Point::Read, collection) }
    }

    /// Whether somebody looks at the rows.
    pub fn is_active(&self) -> bool {
        self.hooks.is_some()
    }

    /// A JSON array of rows. Without hooks its text is not looked at.
    ///
    /// # Errors
    /// Those of the hooks.
    pub async fn rows(&self, rows: Json) -> Result<Json> {
        if self.hooks.is_none() {
            return Ok(rows);
        }
        let rows = serde_json::from_str(rows.get()).map_err(Error::internal)?;
        Ok(Json::of(&Value::Array(self.run(rows).await?)))
    }

    /// One row; `None` when a hook took it out.
    ///
    /// # Errors
    /// Those of the hooks.
    pub async fn row(&self, row: Json) -> Result<Option<Json>> {
        if self.hooks.is_none() {
            return Ok(Some(row));
        }
        let row = serde_json::from_str(row.get()).map_err(Error::internal)?;
        Ok(self.run(vec![row]).await?.into_iter().next().map(|row| Json::of(&row)))
    }

    async fn run(&self, mut rows: Vec<Value>) -> Result<Vec<Value>> {
        if let Some(hooks) = self.hooks {
            for hook in hooks.at(Point::Read, self.collection) {
                rows = hook.read(self.ctx, self.collection, rows).await?;
            }
        }
        Ok(rows)
    }
}
