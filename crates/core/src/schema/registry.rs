//! The current schema of one server and its replacement.

use std::{
    fmt,
    hash::{DefaultHasher, Hasher},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;

use super::{
    Schema, inspect,
    overlay::{self, Built},
};
use crate::{error::Result, store::Db};

/// Holds the current [`Schema`]; swaps it whole.
pub struct SchemaRegistry {
    current: ArcSwap<Schema>,
    exclude_tables: Vec<String>,
    /// How many reloads have been asked for.
    asked: AtomicU64,
    running: Mutex<Reloads>,
}

#[derive(Default)]
struct Reloads {
    /// All reloads asked for up to this one are done.
    done: u64,
    /// Digest of the current schema.
    content: u64,
    /// Tables the log has been told of.
    left_out: Vec<(String, &'static str)>,
}

impl SchemaRegistry {
    /// Inspects the database for the first time.
    ///
    /// # Errors
    /// When the catalogue can't be read.
    pub async fn open(db: &Db, exclude_tables: Vec<String>) -> Result<Self> {
        let registry = Self {
            current: ArcSwap::from_pointee(Schema::default()),
            exclude_tables,
            asked: AtomicU64::new(0),
            running: Mutex::default(),
        };
        registry.reload(db).await?;
        Ok(registry)
    }

    /// The schema of this moment; keep it for the whole request.
    #[must_use]
    pub fn current(&self) -> Arc<Schema> {
        self.current.load_full()
    }

    /// Inspects again and swaps; the version grows. What was committed before the call is in the
    /// schema it returns. Calls that wait for a running inspection share the next one.
    ///
    /// # Errors
    /// As [`SchemaRegistry::open`]; the old schema stays then.
    pub async fn reload(&self, db: &Db) -> Result<Arc<Schema>> {
        self.inspect(db, true).await
    }

    /// Inspects again, and swaps when something differs: for changes that others may have made. Nothing that
    /// hangs on the version is made anew for a schema that stays the same.
    ///
    /// # Errors
    /// As [`SchemaRegistry::open`]; the old schema stays then.
    pub async fn refresh(&self, db: &Db) -> Result<Arc<Schema>> {
        self.inspect(db, false).await
    }

    async fn inspect(&self, db: &Db, always: bool) -> Result<Arc<Schema>> {
        let ticket = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let mut running = self.running.lock().await;
        if running.done >= ticket {
            return Ok(self.current());
        }
        let covered = self.asked.load(Ordering::SeqCst);
        let started = std::time::Instant::now();
        let connection = db.executor();
        let tables = inspect::tables(connection).await?;
        let stored = overlay::read(connection, &tables).await?;
        let version = self.current.load().version + 1;
        let Built { schema, left_out } = overlay::build(version, tables, &stored, &self.exclude_tables);
        for (table, reason) in left_out.iter().filter(|table| !running.left_out.contains(table)) {
            tracing::warn!(%table, reason, "table is not served");
        }
        tracing::debug!(version, collections = schema.collections.len(), elapsed = ?started.elapsed(), "schema read");
        running.left_out = left_out;
        running.done = covered;
        let content = fingerprint(&schema);
        if always || running.content != content {
            running.content = content;
            db.schema_changed(version);
            self.current.store(Arc::new(schema));
        }
        Ok(self.current())
    }
}

/// A digest of everything but the version.
fn fingerprint(schema: &Schema) -> u64 {
    struct Digest(DefaultHasher);
    impl fmt::Write for Digest {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.write(text.as_bytes());
            Ok(())
        }
    }
    let mut digest = Digest(DefaultHasher::new());
    // Writing to a hasher can't fail.
    let _ = fmt::write(&mut digest, format_args!("{:?}{:?}", schema.collections, schema.relations));
    digest.0.finish()
}
