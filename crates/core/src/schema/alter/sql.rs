//! Quoting for statements that take no parameters: identifiers and constants are written by
//! sea-query's own escaping, nothing else of a request ever stands in DDL.

use sea_query::{
    Alias, IntoIden, MysqlQueryBuilder, PostgresQueryBuilder, QueryBuilder, QuotedBuilder, SqliteQueryBuilder, Value,
};

use crate::store::Dialect;

/// A quoted identifier.
pub fn ident(dialect: Dialect, name: &str) -> String {
    let iden = Alias::new(name).into_iden();
    let mut sql = String::new();
    match dialect {
        Dialect::Sqlite => SqliteQueryBuilder.prepare_iden(&iden, &mut sql),
        Dialect::Postgres => PostgresQueryBuilder.prepare_iden(&iden, &mut sql),
        Dialect::Mysql => MysqlQueryBuilder.prepare_iden(&iden, &mut sql),
    }
    sql
}

/// A text constant.
pub fn text(dialect: Dialect, value: &str) -> String {
    let value = Value::from(value);
    match dialect {
        Dialect::Sqlite => SqliteQueryBuilder.value_to_string(&value),
        Dialect::Postgres => PostgresQueryBuilder.value_to_string(&value),
        Dialect::Mysql => MysqlQueryBuilder.value_to_string(&value),
    }
}
