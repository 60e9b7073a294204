//! Bounds of queries and writes.

use waymark_core::query::{QueryLimits, ast::Limit};

use super::Reader;

#[derive(Clone, Debug)]
pub struct QuerySettings {
    pub limits: QueryLimits,
}

impl QuerySettings {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        const MOST: i64 = 2_147_483_647;
        let depth = reader.number("MAX_RELATIONAL_DEPTH", 1..=1000);
        let default = reader.number("QUERY_LIMIT_DEFAULT", -1..=MOST);
        let max = reader.number("QUERY_LIMIT_MAX", -1..=MOST);
        if max == 0 {
            reader.problem("QUERY_LIMIT_MAX", "the number 0", "a whole number of 1 or more, or -1 for no ceiling");
        }
        let batch = reader.optional_number("MAX_BATCH_MUTATION", 1..=i64::MAX);
        let parse_depth = reader.number("QUERYSTRING_PARSE_DEPTH", 1..=1000);
        let array_limit = reader.number("QUERYSTRING_ARRAY_LIMIT", 0..=100_000);
        Self {
            limits: QueryLimits {
                relational_depth: usize::try_from(depth).unwrap_or(10).max(2),
                default_limit: u64::try_from(default).map_or(Limit::Unlimited, Limit::Rows),
                max_limit: u64::try_from(max).ok().filter(|max| *max > 0),
                batch_mutation: batch.and_then(|batch| u64::try_from(batch).ok()),
                parse_depth: usize::try_from(parse_depth).unwrap_or(10),
                array_limit: usize::try_from(array_limit).unwrap_or(500),
            },
        }
    }
}
