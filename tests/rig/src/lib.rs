//! A TCP proxy and servers of Redis and NATS that a test can break and mend.
