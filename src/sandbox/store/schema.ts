/** The sandbox's tables. Increment `schemaVersion` in store.ts with every change. */
export const schemaSql = `
CREATE TABLE objects (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  hidden TEXT
) STRICT;
CREATE INDEX objects_kind ON objects (kind);
-- Partial, because few objects have these fields.
CREATE INDEX objects_payment_intent ON objects (body ->> '$.payment_intent') WHERE body ->> '$.payment_intent' IS NOT NULL;
CREATE INDEX objects_reference ON objects (body ->> '$.client_reference_id') WHERE body ->> '$.client_reference_id' IS NOT NULL;
CREATE INDEX objects_events ON objects (kind, body ->> '$.created') WHERE kind = 'event';

-- The answer stored under a key, or a running request (status is null, until running_until).
CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY,
  endpoint TEXT NOT NULL,
  params TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  running_until INTEGER NOT NULL DEFAULT 0,
  status INTEGER,
  body TEXT,
  request_id TEXT NOT NULL
) STRICT;
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

CREATE TABLE deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  -- The events of one transaction, which are sent in order and independently of other batches.
  batch TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'delivered', 'lost', 'given_up')),
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  last_status INTEGER
) STRICT;
CREATE INDEX deliveries_due ON deliveries (due_at, seq) WHERE state IN ('waiting', 'sending');
CREATE INDEX deliveries_event ON deliveries (event_id);
CREATE INDEX deliveries_batch ON deliveries (batch);

-- An object's action that runs when it is due.
CREATE TABLE timers (
  object_id TEXT NOT NULL,
  action TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  PRIMARY KEY (object_id, action)
) STRICT;
CREATE INDEX timers_due ON timers (due_at);

CREATE TABLE faults (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  target TEXT NOT NULL,
  fault TEXT NOT NULL,
  moment TEXT NOT NULL CHECK (moment IN ('before', 'after', 'kept')),
  skip INTEGER NOT NULL DEFAULT 0 CHECK (skip >= 0),
  remaining INTEGER NOT NULL,
  delay_ms INTEGER NOT NULL DEFAULT 0 CHECK (delay_ms >= 0)
) STRICT;
`
