//! Reads: one statement per level. To-one targets are joined into their parent's statement, to-many
//! (and many-to-any) levels are statements of their own, keyed by the rows above.

use std::sync::Arc;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, JoinType, Order as Direction, Query, SelectStatement};

use super::{condition::column, dialect, per_parent};
use crate::{
    access::resolved::{
        AuthorizedQuery, Condition, FieldRef, Hop, Level, Order, OrderBy, Output, OutputValue, Scalar, Shape,
    },
    ident::Key,
    query::ast::{Function, Limit},
    schema::FieldType,
    store::{Dialect, render::Render},
};

/// Joins of one statement; more to-one targets are read by statements of their own. MySQL and
/// SQLite stop at about 60 tables.
const MOST_JOINS: usize = 30;
/// Columns of one statement up to which targets are joined; PostgreSQL stops at 1,664.
const MOST_COLUMNS: usize = 1_500;

/// An expression to sort by, its direction, and whether it may be null.
pub(super) type SortKey = (Expr, Direction, bool);

/// A statement and how its rows become JSON.
pub(crate) struct Select<'q> {
    pub statement: SelectStatement,
    pub renders: Vec<Render>,
    pub row: RowLayout,
    pub children: Vec<Child<'q>>,
}

/// What a row is in the answer.
pub(crate) enum RowLayout {
    Object(Vec<Member>),
    /// The value of one column.
    Value(usize),
}

/// One member of an object.
pub(crate) struct Member {
    /// The name as JSON, with its colon.
    pub label: String,
    pub value: MemberLayout,
}

pub(crate) enum MemberLayout {
    Column(usize),
    /// A joined row; null when the column `present` is.
    Joined {
        present: usize,
        row: RowLayout,
    },
    /// The rows of a child statement.
    Child(usize),
    /// An object of its own (aggregates).
    Object(Vec<Member>),
}

/// A level that is read by statements of its own.
pub(crate) struct Child<'q> {
    /// Column and type of the key in the rows above.
    pub key: usize,
    pub key_kind: FieldType,
    /// Column that names the target collection (many-to-any).
    pub discriminator: Option<usize>,
    pub targets: Vec<Target<'q>>,
    /// A list of rows; else one row or null.
    pub many: bool,
}

/// One collection of a child level.
pub(crate) struct Target<'q> {
    pub level: &'q Level,
    /// The field that holds the key of the rows above.
    pub key_field: FieldRef,
}

/// The statement of the top level.
pub(crate) fn root(dialect: Dialect, query: &AuthorizedQuery) -> Select<'_> {
    let level = query.root();
    let mut builder = Builder::new(dialect);
    let table = builder.next_table();
    let mut statement = builder.from(level, &table);
    let row = match &level.shape {
        Shape::Groups { groups, aggregates } => {
            let (row, sort) = builder.grouped(&mut statement, &table, groups, aggregates, &level.sort);
            for (expr, direction) in sort {
                builder.order(&mut statement, expr, direction, true);
            }
            row
        }
        shape => {
            let row = builder.shape(&table, &level.collection, shape, &mut statement);
            for order in &level.sort {
                let (expr, direction, nullable) = builder.order_expr(&table, order);
                builder.order(&mut statement, expr, direction, nullable);
            }
            row
        }
    };
    bounds(&mut statement, dialect, level.limit, level.offset);
    builder.finish(statement, row)
}

/// The statement of a child level for these keys of the rows above. Its first column is the key.
pub(crate) fn related<'q>(dialect: Dialect, target: &Target<'q>, keys: &[Key], many: bool) -> Select<'q> {
    let level = target.level;
    let mut builder = Builder::new(dialect);
    let table = builder.next_table();
    let mut statement = builder.from(level, &table);
    let key_field = &target.key_field;
    builder.columns.push((column(&table, key_field), Render::of(key_field.field())));
    let row = builder.shape(&table, &level.collection, &level.shape, &mut statement);
    let among = dialect::among(dialect, column(&table, key_field), key_field.field(), keys);
    if !many {
        statement.and_where(among);
        return builder.finish(statement, row);
    }
    let sort: Vec<SortKey> = level.sort.iter().map(|order| builder.order_expr(&table, order)).collect();
    let bounded = matches!(level.limit, Limit::Rows(_)) || level.offset > 0;
    if !bounded || keys.len() <= 1 {
        statement.and_where(among);
        for (expr, direction, nullable) in sort {
            builder.order(&mut statement, expr, direction, nullable);
        }
        if bounded {
            bounds(&mut statement, dialect, level.limit, level.offset);
        }
        return builder.finish(statement, row);
    }
    if let Some(keys) = per_parent::rows_of(dialect, key_field.field(), keys) {
        return builder.by_index(statement, row, column(&table, key_field), keys, sort, level);
    }
    statement.and_where(among);
    builder.numbered(statement, row, &column(&table, key_field), sort, level)
}

/// The number of rows: all visible ones, or those that the query wants too.
pub(crate) fn count(dialect: Dialect, query: &AuthorizedQuery, wanted: bool) -> SelectStatement {
    let level = query.root();
    let mut builder = Builder::new(dialect);
    let table = builder.next_table();
    let mut statement = Query::select();
    statement.from_as(Alias::new(&*level.collection.name), Alias::new(&table)).expr(Expr::cust("COUNT(*)"));
    if let Some(condition) = builder.condition(&table, &level.visible) {
        statement.and_where(condition);
    }
    if wanted && let Some(condition) = builder.condition(&table, &level.wanted) {
        statement.and_where(condition);
    }
    statement
}

pub(super) fn bounds(statement: &mut SelectStatement, dialect: Dialect, limit: Limit, offset: u64) {
    match limit {
        Limit::Rows(rows) => {
            statement.limit(Ord::min(rows, i64::MAX as u64));
        }
        // Neither knows an offset without a limit.
        Limit::Unlimited if offset > 0 && dialect != Dialect::Postgres => {
            statement.limit(i64::MAX as u64);
        }
        Limit::Unlimited => {}
    }
    if offset > 0 {
        statement.offset(offset);
    }
}

/// The state of building one statement.
pub(crate) struct Builder<'q> {
    pub(super) dialect: Dialect,
    tables: usize,
    joins: usize,
    /// Columns that the levels of this statement come to.
    planned: usize,
    pub(super) columns: Vec<(Expr, Render)>,
    pub(super) children: Vec<Child<'q>>,
}

impl<'q> Builder<'q> {
    fn new(dialect: Dialect) -> Self {
        Self { dialect, tables: 0, joins: 0, planned: 0, columns: Vec::new(), children: Vec::new() }
    }

    pub(super) fn next_table(&mut self) -> String {
        let name = format!("t{}", self.tables);
        self.tables += 1;
        name
    }

    fn from(&mut self, level: &Level, table: &str) -> SelectStatement {
        let mut statement = Query::select();
        statement.from_as(Alias::new(&*level.collection.name), Alias::new(table));
        for condition in [&level.visible, &level.wanted] {
            if let Some(condition) = self.condition(table, condition) {
                statement.and_where(condition);
            }
        }
        statement
    }

    fn push(&mut self, column: (Expr, Render)) -> usize {
        self.columns.push(column);
        self.columns.len() - 1
    }

    fn push_field(&mut self, table: &str, field: &FieldRef) -> usize {
        let column = dialect::read(self.dialect, column(table, field), field.field());
        self.push(column)
    }

    /// A key column in its raw form (never masked or cast by rendering).
    fn push_key(&mut self, table: &str, field: &FieldRef) -> usize {
        self.push((column(table, field), Render::of(field.field())))
    }

    fn shape(
        &mut self,
        table: &str,
        collection: &Arc<crate::schema::Collection>,
        shape: &'q Shape,
        statement: &mut SelectStatement,
    ) -> RowLayout {
        match shape {
            Shape::Items(outputs) => {
                self.planned += outputs.len();
                let members = outputs.iter().map(|output| self.member(table, output, statement)).collect();
                if self.columns.is_empty() {
                    // A row must have a column, even when nothing of it is shown.
                    self.push((Expr::val(1), Render::Integer));
                }
                RowLayout::Object(members)
            }
            Shape::Keys | Shape::Groups { .. } => {
                let primary = Expr::col((Alias::new(table), Alias::new(&*collection.primary)));
                let column = dialect::read(self.dialect, primary, collection.primary_field());
                RowLayout::Value(self.push(column))
            }
        }
    }

    fn member(&mut self, table: &str, output: &'q Output, statement: &mut SelectStatement) -> Member {
        let value = match &output.value {
            OutputValue::Scalar(Scalar::Column(field)) => MemberLayout::Column(self.push_field(table, field)),
            OutputValue::Scalar(Scalar::Part(Function::Count, field)) => {
                let length = dialect::part(self.dialect, Function::Count, column(table, field), field.field());
                MemberLayout::Column(self.push((length, Render::ListLength)))
            }
            OutputValue::Scalar(scalar) => {
                let expr = self.scalar(table, scalar);
                MemberLayout::Column(self.push((expr, Render::Integer)))
            }
            OutputValue::One { field, level } => self.single_target(table, field, level, statement),
            OutputValue::Many { key, child_field, level } => {
                let key_kind = child_field.field().kind;
                let key = self.push_key(table, key);
                let targets = vec![Target { level, key_field: child_field.clone() }];
                self.child(Child { key, key_kind, discriminator: None, targets, many: true })
            }
            OutputValue::Any { field, discriminator, levels } => {
                let key = self.push_key(table, field);
                let discriminator = self.push_key(table, discriminator);
                let targets =
                    levels.iter().filter_map(|level| Some(Target { level, key_field: level.primary()? })).collect();
                let key_kind = field.field().kind;
                self.child(Child { key, key_kind, discriminator: Some(discriminator), targets, many: false })
            }
        };
        Member { label: label(&output.name), value }
    }

    fn child(&mut self, child: Child<'q>) -> MemberLayout {
        self.children.push(child);
        MemberLayout::Child(self.children.len() - 1)
    }

    fn single_target(
        &mut self,
        table: &str,
        field: &FieldRef,
        level: &'q Level,
        statement: &mut SelectStatement,
    ) -> MemberLayout {
        let target = level.primary();
        let width = match &level.shape {
            Shape::Items(outputs) => outputs.len() + 1,
            Shape::Keys | Shape::Groups { .. } => 2,
        };
        let full = self.joins >= MOST_JOINS || self.planned + width > MOST_COLUMNS;
        let Some(primary) = target.filter(|_| full) else {
            return self.joined(table, field, level, statement);
        };
        let key = self.push_key(table, field);
        let targets = vec![Target { level, key_field: primary }];
        self.child(Child { key, key_kind: field.field().kind, discriminator: None, targets, many: false })
    }

    fn joined(
        &mut self,
        table: &str,
        field: &FieldRef,
        level: &'q Level,
        statement: &mut SelectStatement,
    ) -> MemberLayout {
        self.joins += 1;
        let related = self.next_table();
        let hop = Hop::One { field: field.clone(), target: Arc::clone(&level.collection) };
        let mut on = self.link(table, &hop, &related);
        for condition in [&level.visible, &level.wanted] {
            if let Some(condition) = self.condition(&related, condition) {
                on = on.and(condition);
            }
        }
        statement.join_as(JoinType::LeftJoin, Alias::new(&*level.collection.name), Alias::new(&related), on);
        let present = self.push((
            Expr::col((Alias::new(&related), Alias::new(&*level.collection.primary))),
            Render::of(level.collection.primary_field()),
        ));
        let row = self.shape(&related, &level.collection, &level.shape, statement);
        MemberLayout::Joined { present, row }
    }

    fn order_expr(&mut self, table: &str, order: &Order) -> SortKey {
        let direction = if order.descending { Direction::Desc } else { Direction::Asc };
        let nullable = match &order.by {
            OrderBy::Scalar(Scalar::Column(field)) => {
                field.field().column.as_ref().is_none_or(|column| column.nullable && !column.primary_key)
            }
            OrderBy::Scalar(Scalar::CountRelated { .. }) => false,
            _ => true,
        };
        (self.order_value(table, &order.by, order.descending), direction, nullable)
    }

    fn order_value(&mut self, table: &str, by: &OrderBy, descending: bool) -> Expr {
        match by {
            OrderBy::Scalar(scalar) => self.scalar(table, scalar),
            OrderBy::Aggregate(_) | OrderBy::Group(_) => Expr::val(1),
            OrderBy::Related { hop, visible, by } => {
                let list = matches!(hop, Hop::Many { .. } | Hop::ManyAny { .. });
                let dialect = self.dialect;
                let mut subquery = self.related_rows(table, hop, visible, |builder, related| {
                    let value = builder.order_value(related, by, descending);
                    if list { dialect::first(dialect, value, descending) } else { value }
                });
                if list && let Some(place) = dialect::first_place(dialect) {
                    // The first child in this order stands for all.
                    let direction = if descending { Direction::Desc } else { Direction::Asc };
                    self.order(&mut subquery, place, direction, true);
                    subquery.limit(1);
                }
                Expr::SubQuery(None, Box::new(subquery.into()))
            }
        }
    }

    pub(super) fn order(&self, statement: &mut SelectStatement, expr: Expr, direction: Direction, nullable: bool) {
        match dialect::nulls(self.dialect, nullable, &direction) {
            Some(nulls) => statement.order_by_expr_with_nulls(expr, direction, nulls),
            None => statement.order_by_expr(expr, direction),
        };
    }

    fn finish(self, mut statement: SelectStatement, row: RowLayout) -> Select<'q> {
        let mut renders = Vec::with_capacity(self.columns.len());
        for (expr, render) in self.columns {
            statement.expr(expr);
            renders.push(render);
        }
        Select { statement, renders, row, children: self.children }
    }
}

/// A member name as JSON, with its colon.
pub(super) fn label(name: &str) -> String {
    format!("{}:", serde_json::Value::from(name))
}

/// Whether a condition never holds: the statement needn't be sent.
pub(crate) fn is_never(query: &AuthorizedQuery) -> bool {
    let level = query.root();
    matches!(level.visible, Condition::Never) || matches!(level.wanted, Condition::Never)
}
