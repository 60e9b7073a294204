//! The system collections that have rules of their own, one file each. Called by `items`, so the
//! rules hold on every door.
