//! Who asks. [`Actor::system`] is the only way around permissions; its call sites are few and a
//! test lists them. Not here: how a token becomes an actor (`auth`), what an actor may do (`access`).

use std::{net::IpAddr, sync::Arc};

use uuid::Uuid;

/// The id of the reserved row of `directus_roles` whose permissions hold for callers without a role.
pub const PUBLIC_ROLE: Uuid = Uuid::nil();

/// Where a request came from; copied to activity rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub ip: Option<IpAddr>,
    pub user_agent: Option<String>,
    pub origin: Option<String>,
}

/// Who asks, from the current rows of user and role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    who: Who,
    pub origin: Origin,
    /// Which session the caller's access token came from (`auth::token::session_mark`).
    session: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Who {
    System,
    Public,
    User(UserActor),
    Share(ShareActor),
}

/// Somebody with the link of a share: reads what belongs to one item, as far as a role may.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShareActor {
    pub id: Uuid,
    pub role: Option<Uuid>,
    /// The shared item.
    pub collection: Arc<str>,
    pub item: Arc<str>,
}

/// A logged-in user with the flags of its current role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserActor {
    pub id: Uuid,
    pub role: Option<Uuid>,
    pub admin: bool,
    pub app: bool,
}

impl Actor {
    /// The server itself: no permissions, validation, activity or revisions apply.
    #[must_use]
    pub fn system() -> Self {
        Self { who: Who::System, origin: Origin::default(), session: None }
    }

    /// A caller without credentials.
    #[must_use]
    pub fn public(origin: Origin) -> Self {
        Self { who: Who::Public, origin, session: None }
    }

    /// A logged-in user.
    #[must_use]
    pub fn user(user: UserActor, origin: Origin) -> Self {
        Self { who: Who::User(user), origin, session: None }
    }

    /// Somebody with the link of a share.
    #[must_use]
    pub fn share(share: ShareActor, origin: Origin) -> Self {
        Self { who: Who::Share(share), origin, session: None }
    }

    /// The share, if somebody with its link asks.
    #[must_use]
    pub fn as_share(&self) -> Option<&ShareActor> {
        match &self.who {
            Who::Share(share) => Some(share),
            Who::System | Who::Public | Who::User(_) => None,
        }
    }

    /// The same user, by an access token of this session.
    #[must_use]
    pub fn in_session(self, session: Option<String>) -> Self {
        Self { session: session.map(Arc::from), ..self }
    }

    /// The session the caller's access token came from; `None` for static tokens.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    #[must_use]
    pub fn is_system(&self) -> bool {
        self.who == Who::System
    }

    /// True for admins, not for the system.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        matches!(&self.who, Who::User(user) if user.admin)
    }

    /// The user's id, if a user asks.
    #[must_use]
    pub fn user_id(&self) -> Option<Uuid> {
        match &self.who {
            Who::User(user) => Some(user.id),
            Who::System | Who::Public | Who::Share(_) => None,
        }
    }

    /// The role of the user or share, if it has one.
    #[must_use]
    pub fn role_id(&self) -> Option<Uuid> {
        match &self.who {
            Who::User(user) => user.role,
            Who::Share(share) => share.role,
            Who::System | Who::Public => None,
        }
    }

    /// The role whose permission rows hold: that of the user or share, else the public one. `None` for the system.
    #[must_use]
    pub fn effective_role(&self) -> Option<Uuid> {
        match &self.who {
            Who::System => None,
            Who::Public => Some(PUBLIC_ROLE),
            Who::User(user) => Some(user.role.unwrap_or(PUBLIC_ROLE)),
            Who::Share(share) => Some(share.role.unwrap_or(PUBLIC_ROLE)),
        }
    }

    /// Whether the app-access minimum is added to the role's permissions.
    #[must_use]
    pub fn has_app_access(&self) -> bool {
        matches!(&self.who, Who::User(user) if user.app)
    }
}
