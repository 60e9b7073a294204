//! Writing the lists of all rows of one write: one query for the children there are, then one
//! deselection, one update and one creation per relation.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};

use super::{
    adopt,
    form::{Form, List},
    linked::Linked,
    order::number,
    sight::visible,
};
use crate::{
    access::{Action, Grant, write::distinct},
    context::Ctx,
    error::{Error, Result},
    ident::Key,
    items::{
        create::create_rows,
        delete::delete_rows,
        update::{Edit, update_rows},
    },
    schema::{Collection, Deselect, Relation},
};

/// A row whose lists are written.
#[derive(Clone, Copy, Debug)]
pub(in crate::items) struct Parent<'a> {
    pub key: &'a Key,
    pub lists: &'a [List],
}

/// Whether rows can be linked to the parents already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::items) enum Stage {
    New,
    Existing,
}

/// Writes the lists of all parents. The revisions go to `children`, which has a list for each parent.
///
/// # Errors
/// `INVALID_PAYLOAD` for a malformed list, `FORBIDDEN` for keys that don't exist for the caller, and
/// those of the writes.
pub(in crate::items) async fn write_lists(
    ctx: &Ctx<'_>,
    parents: &Arc<Collection>,
    rows: Vec<Parent<'_>>,
    stage: Stage,
    children: &mut [Vec<Key>],
) -> Result<()> {
    let mut relations: Vec<(&List, Vec<Member<'_>>)> = Vec::new();
    for (owner, parent) in rows.iter().enumerate() {
        for list in parent.lists {
            let member = Member { owner, key: parent.key, value: &list.value };
            match relations.iter_mut().find(|(known, _)| known.field == list.field) {
                Some((_, members)) => members.push(member),
                None => relations.push((list, vec![member])),
            }
        }
    }
    for (list, members) in relations {
        let level = Level {
            ctx,
            field: &list.field,
            relation: &list.relation,
            parents,
            children: &crate::items::collection(ctx, &list.relation.many_collection)?,
        };
        let mut rest = members.as_slice();
        while !rest.is_empty() {
            // A second list of the same parent begins with what the first has left.
            let mut seen = HashSet::new();
            let count = rest.iter().take_while(|member| seen.insert(member.key)).count().max(1);
            let (round, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            level.write(round, stage, children).await?;
            rest = after;
        }
    }
    Ok(())
}

/// One parent's list.
#[derive(Clone, Copy)]
struct Member<'a> {
    /// Place of the parent among the rows of the write.
    owner: usize,
    key: &'a Key,
    value: &'a Value,
}

/// One relation and both of its collections.
struct Level<'a> {
    ctx: &'a Ctx<'a>,
    field: &'a str,
    relation: &'a Relation,
    parents: &'a Arc<Collection>,
    children: &'a Arc<Collection>,
}

/// What is to be written, each with the place of its parent.
#[derive(Default)]
struct Plan {
    gone: Vec<(usize, Vec<Key>)>,
    edits: Vec<(usize, Edit)>,
    rows: Vec<(usize, Map<String, Value>)>,
}

impl Level<'_> {
    async fn write(&self, members: &[Member<'_>], stage: Stage, revisions: &mut [Vec<Key>]) -> Result<()> {
        let read = |member: &Member<'_>| Form::read(self.field, self.children, member.value);
        let mut forms = members.iter().map(read).collect::<Result<Vec<_>>>()?;
        let linked = match stage {
            Stage::New => Linked::default(),
            Stage::Existing => {
                let replaced = members.iter().zip(&forms).filter(|(_, form)| matches!(form, Form::Full { .. }));
                let keys: Vec<&Key> = replaced.map(|(member, _)| member.key).collect();
                let changed = forms.iter().filter(|form| matches!(form, Form::Part { .. }));
                let named = distinct(changed.flat_map(Form::named).collect());
                Linked::read(self.ctx, self.relation, self.parents, self.children, &keys, &named).await?
            }
        };
        let known = self.known(&forms, &linked).await?;
        let new = members.iter().zip(&mut forms).filter_map(|(member, form)| match form {
            Form::Part { create, .. } => Some((member.key, create)),
            Form::Full { .. } => None,
        });
        number(self.ctx, self.relation, self.parents, self.children, new.collect()).await?;
        let plan = self.plan(members, forms, linked, &known)?;
        self.run(plan, revisions).await
    }

    /// Of the named rows those that exist for the caller.
    async fn known(&self, forms: &[Form], linked: &Linked) -> Result<HashSet<Key>> {
        let mut named: Vec<Key> = forms.iter().flat_map(Form::named).collect();
        let mut known = HashSet::new();
        if matches!(self.ctx.policy.grant(&self.children.name, Action::Read), Grant::Unrestricted) {
            known.extend(linked.all().cloned());
            named.retain(|key| !known.contains(key));
        }
        let actions = [Action::Update, Action::Read, Action::Delete];
        let actions = match self.relation.deselect {
            Deselect::Delete => &actions[..],
            Deselect::Nullify => actions.split_last().map_or(&actions[..], |(_, others)| others),
        };
        known.extend(visible(self.ctx, self.children, &named, actions).await?);
        Ok(known)
    }

    fn plan(&self, members: &[Member<'_>], forms: Vec<Form>, mut linked: Linked, known: &HashSet<Key>) -> Result<Plan> {
        let mut plan = Plan::default();
        for (member, form) in members.iter().zip(forms) {
            match form {
                Form::Full { links, objects } => self.replace(member, links, objects, &mut linked, known, &mut plan)?,
                Form::Part { create, update, delete } => {
                    self.check_gone(&delete, known)?;
                    // Only children of this parent: those of others are not its to give away.
                    let mut gone = delete;
                    gone.retain(|key| linked.is_child(key, member.key));
                    gone.iter().for_each(|key| linked.unlink(key));
                    plan.gone.push((member.owner, gone));
                    for (key, object) in update {
                        if !known.contains(&key) {
                            return Err(Error::forbidden());
                        }
                        self.edit(member, key, object, &mut linked, &mut plan)?;
                    }
                    for object in create {
                        plan.rows.push((member.owner, self.claim(member, object)?));
                    }
                }
            }
        }
        Ok(plan)
    }

    /// The full list: what is not named is deselected first, so that it can't stand in the way of
    /// what is new. Hidden children can't be named, and the caller may not deselect them either.
    fn replace(
        &self,
        member: &Member<'_>,
        mut links: Vec<Key>,
        objects: Vec<(Option<Key>, Map<String, Value>)>,
        linked: &mut Linked,
        known: &HashSet<Key>,
        plan: &mut Plan,
    ) -> Result<()> {
        if !links.iter().all(|key| known.contains(key)) {
            return Err(Error::forbidden());
        }
        let named: HashSet<&Key> = links.iter().chain(objects.iter().filter_map(|(key, _)| key.as_ref())).collect();
        let gone: Vec<Key> = linked.children(member.key).filter(|key| !named.contains(key)).cloned().collect();
        gone.iter().for_each(|key| linked.unlink(key));
        plan.gone.push((member.owner, gone));

        links.retain(|key| !linked.is_child(key, member.key));
        if !links.is_empty() {
            links.iter().for_each(|key| linked.link(key.clone(), member.key.clone()));
            let link = Map::from_iter([(self.relation.many_field.to_string(), self.parent_json(member))]);
            plan.edits.push((member.owner, (links, link)));
        }
        for (key, object) in objects {
            match key.filter(|key| known.contains(key)) {
                Some(key) => self.edit(member, key, object, linked, plan)?,
                None => plan.rows.push((member.owner, self.claim(member, object)?)),
            }
        }
        Ok(())
    }

    /// Rows can be named for deselection as they can be for a deletion: who may not do that at all
    /// is refused, and missing rows are no error for admins only.
    fn check_gone(&self, keys: &[Key], known: &HashSet<Key>) -> Result<()> {
        let action = match self.relation.deselect {
            Deselect::Delete => Action::Delete,
            Deselect::Nullify => Action::Update,
        };
        let refused = match self.ctx.policy.grant(&self.children.name, action) {
            Grant::Unrestricted => false,
            Grant::Denied => !keys.is_empty(),
            Grant::Ruled(_) => !keys.iter().all(|key| known.contains(key)),
        };
        if refused { Err(Error::forbidden()) } else { Ok(()) }
    }

    fn parent_json(&self, member: &Member<'_>) -> Value {
        member.key.to_json(self.parents.primary_field())
    }

    /// A new row of this parent.
    fn claim(&self, member: &Member<'_>, mut object: Map<String, Value>) -> Result<Map<String, Value>> {
        self.agree(member, &object)?;
        object.insert(self.relation.many_field.to_string(), self.parent_json(member));
        Ok(object)
    }

    /// A change of an existing row, if anything changes.
    fn edit(
        &self,
        member: &Member<'_>,
        key: Key,
        mut object: Map<String, Value>,
        linked: &mut Linked,
        plan: &mut Plan,
    ) -> Result<()> {
        self.agree(member, &object)?;
        object.shift_remove(&*self.children.primary);
        let field = &*self.relation.many_field;
        if linked.is_child(&key, member.key) {
            object.shift_remove(field);
        } else {
            object.insert(field.to_owned(), self.parent_json(member));
            linked.link(key.clone(), member.key.clone());
        }
        if !object.is_empty() {
            plan.edits.push((member.owner, (vec![key], object)));
        }
        Ok(())
    }

    /// Refuses a child that says it belongs to another parent.
    fn agree(&self, member: &Member<'_>, object: &Map<String, Value>) -> Result<()> {
        let primary = self.parents.primary_field();
        let agrees = match object.get(&*self.relation.many_field) {
            None | Some(Value::Null) => true,
            Some(Value::Object(parent)) => {
                parent.get(&*primary.name).is_some_and(|key| Key::parse(primary, key).as_ref() == Some(member.key))
            }
            Some(value) => Key::parse(primary, value).as_ref() == Some(member.key),
        };
        if agrees {
            return Ok(());
        }
        let field = &self.relation.many_field;
        Err(Error::invalid_payload(format!("\"{field}\" contradicts the item that \"{}\" belongs to.", self.field)))
    }

    /// Deselections come first, creations last.
    async fn run(&self, plan: Plan, revisions: &mut [Vec<Key>]) -> Result<()> {
        let gone = plan.gone.into_iter().filter(|(_, keys)| !keys.is_empty());
        let mut edits = Vec::with_capacity(plan.edits.len());
        match self.relation.deselect {
            Deselect::Delete => {
                let keys: Vec<Key> = gone.flat_map(|(_, keys)| keys).collect();
                if !keys.is_empty() {
                    Box::pin(delete_rows(self.ctx, self.children, keys)).await?;
                }
            }
            Deselect::Nullify => {
                let unlinked = Map::from_iter([(self.relation.many_field.to_string(), Value::Null)]);
                edits.extend(gone.map(|(owner, keys)| (owner, (keys, unlinked.clone()))));
            }
        }
        edits.extend(plan.edits);
        self.update(edits, revisions).await?;
        let (owners, rows): (Vec<usize>, Vec<_>) = plan.rows.into_iter().unzip();
        if !rows.is_empty() {
            let written = create_rows(self.ctx, self.children, rows).await?;
            adopt(revisions, owners.into_iter(), written.revisions);
        }
        Ok(())
    }

    async fn update(&self, edits: Vec<(usize, Edit)>, revisions: &mut [Vec<Key>]) -> Result<()> {
        let (owners, edits): (Vec<usize>, Vec<Edit>) = edits.into_iter().unzip();
        if !edits.is_empty() {
            let written = update_rows(self.ctx, self.children, edits).await?;
            adopt(revisions, owners.into_iter(), written.revisions);
        }
        Ok(())
    }
}
