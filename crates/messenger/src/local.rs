//! The store in memory: what is published is heard at once, by the messengers that share the bus.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;

use crate::bus::Hub;

/// Carries messages between the messengers of one process that hold clones of it.
#[derive(Clone, Debug, Default)]
pub struct LocalBus(Arc<Mutex<Vec<Member>>>);

#[derive(Debug)]
struct Member {
    namespace: String,
    hub: Weak<Hub>,
}

impl LocalBus {
    pub(crate) fn join(&self, namespace: &str, hub: &Arc<Hub>) {
        let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        members.retain(|member| member.hub.strong_count() > 0);
        members.push(Member { namespace: namespace.to_owned(), hub: Arc::downgrade(hub) });
    }

    pub(crate) fn leave(&self, hub: &Arc<Hub>) {
        let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        members.retain(|member| !std::ptr::eq(member.hub.as_ptr(), Arc::as_ptr(hub)));
    }

    /// The lock is held over the whole delivery: what one publisher says first is heard first.
    pub(crate) fn publish(&self, namespace: &str, channel: &str, payload: &Bytes) {
        let members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for hub in
            members.iter().filter(|member| member.namespace == namespace).filter_map(|member| member.hub.upgrade())
        {
            hub.deliver(channel, payload);
        }
    }
}
