//! Cron schedules that fire once across replicas.
