//! Fetched rows → nested JSON bytes, written once, front to back.

use sea_orm::QueryResult;

use super::{
    decode::RowRef,
    run::{Fetched, FetchedChild, as_key_of},
};
use crate::{
    error::{Error, Result},
    ident::Key,
    plan::select::{Member, MemberLayout, RowLayout},
    schema::FieldType,
};

/// Writes all rows as an array.
///
/// # Errors
/// A value that the driver can't give.
pub(crate) fn write_list(fetched: &Fetched, out: &mut Vec<u8>) -> Result<()> {
    out.push(b'[');
    for (position, row) in fetched.rows.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_row(fetched, RowRef::of(row)?, &fetched.layout, out)?;
    }
    out.push(b']');
    Ok(())
}

/// Writes the first row; false when there is none.
///
/// # Errors
/// As [`write_list`].
pub(crate) fn write_first(fetched: &Fetched, out: &mut Vec<u8>) -> Result<bool> {
    let Some(row) = fetched.rows.first() else { return Ok(false) };
    write_row(fetched, RowRef::of(row)?, &fetched.layout, out)?;
    Ok(true)
}

/// Writes a row that came by itself, in the form of `frame`, which has no levels below.
///
/// # Errors
/// As [`write_list`].
pub(crate) fn write_one(frame: &Fetched, row: &QueryResult, out: &mut Vec<u8>) -> Result<()> {
    write_row(frame, RowRef::of(row)?, &frame.layout, out)
}

fn write_row(fetched: &Fetched, row: RowRef<'_>, layout: &RowLayout, out: &mut Vec<u8>) -> Result<()> {
    match layout {
        RowLayout::Value(index) => write_column(fetched, row, *index, out),
        RowLayout::Object(members) => write_object(fetched, row, members, out),
    }
}

fn write_object(fetched: &Fetched, row: RowRef<'_>, members: &[Member], out: &mut Vec<u8>) -> Result<()> {
    out.push(b'{');
    for (position, member) in members.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        out.extend_from_slice(member.label.as_bytes());
        match &member.value {
            MemberLayout::Column(index) => write_column(fetched, row, *index, out)?,
            MemberLayout::Joined { present, row: layout } => {
                if row.key(*present, FieldType::Unknown)?.is_some() {
                    write_row(fetched, row, layout, out)?;
                } else {
                    out.extend_from_slice(b"null");
                }
            }
            MemberLayout::Child(index) => {
                let child = fetched.children.get(*index).ok_or_else(|| Error::internal("a child level is missing"))?;
                write_child(child, row, out)?;
            }
            MemberLayout::Object(inner) => write_object(fetched, row, inner, out)?,
        }
    }
    out.push(b'}');
    Ok(())
}

fn write_column(fetched: &Fetched, row: RowRef<'_>, index: usize, out: &mut Vec<u8>) -> Result<()> {
    let render = fetched.renders.get(index).ok_or_else(|| Error::internal("a column is missing"))?;
    row.write(index, *render, out)
}

fn write_child(child: &FetchedChild, row: RowRef<'_>, out: &mut Vec<u8>) -> Result<()> {
    let key = row.key(child.key, child.key_kind)?;
    let collection = match child.discriminator {
        Some(index) => row.key(index, FieldType::String)?,
        None => None,
    };
    if child.many {
        out.push(b'[');
    }
    let mut written = 0;
    for target in &child.targets {
        if child.discriminator.is_some() && collection != Some(Key::Text(target.collection.to_string())) {
            continue;
        }
        let Some(key) = key.as_ref().and_then(|key| as_key_of(key, &target.key_field)) else { continue };
        for part in &target.parts {
            for position in part.by_key.get(&key).map(Vec::as_slice).unwrap_or_default() {
                let Some(row) = part.fetched.rows.get(*position) else { continue };
                if written > 0 {
                    if !child.many {
                        return Ok(());
                    }
                    out.push(b',');
                }
                write_row(&part.fetched, RowRef::of(row)?, &part.fetched.layout, out)?;
                written += 1;
            }
        }
    }
    if child.many {
        out.push(b']');
    } else if written == 0 {
        out.extend_from_slice(b"null");
    }
    Ok(())
}
