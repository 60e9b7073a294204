//! Keys that the database makes, given back by the INSERT itself where the engine can.

use sea_orm::Statement;
use sea_query::{Alias, Expr, ExprTrait, InsertStatement, Query};

use crate::store::{Db, Dialect, Executor};

/// Whether an INSERT can give back what it made. MySQL can't; MariaDB can since 10.5.
#[must_use]
pub fn is_available(db: &Db) -> bool {
    db.dialect() != Dialect::Mysql || db.is_mariadb()
}

/// The INSERT with its key column returned as text; `None` where that is not available.
#[must_use]
pub fn with_key(conn: Executor<'_>, statement: &InsertStatement, column: &str) -> Option<Statement> {
    if !is_available(conn.db()) {
        return None;
    }
    if conn.dialect() != Dialect::Mysql {
        let mut statement = statement.clone();
        let key = Expr::col(Alias::new(column)).cast_as(Alias::new("text"));
        statement.returning(Query::returning().exprs([key]));
        return Some(conn.build(&statement));
    }
    // The builder knows MySQL only, which has no such clause.
    let mut statement = conn.build(statement);
    statement.sql = format!("{} RETURNING CAST(`{}` AS CHAR)", statement.sql, column.replace('`', "``"));
    Some(statement)
}
