//! Publish/subscribe between the replicas of one deployment. Bytes and names only.
